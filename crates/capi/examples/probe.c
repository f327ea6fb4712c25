/* Asks tables about positions.
 *
 *     cc probe.c -I ../include -L ../../../target/release -lcanju -o probe
 *     ./probe ./tables "5k3/9/9/9/9/9/9/9/9/4K2R1 w"
 */
#include <stdio.h>

#include "canju.h"

static const char *name(int32_t outcome) {
    return outcome == CANJU_WIN ? "win" : outcome == CANJU_DRAW ? "draw" : "loss";
}

int main(int argc, char **argv) {
    canju_tables *tables;
    int failed = 0;
    if (argc < 3 || canju_abi() != CANJU_ABI) {
        fprintf(stderr, "error: give a folder of tables and positions, and a library of this header's version\n");
        return 2;
    }
    if (canju_open(argv[1], NULL, 0, &tables) != CANJU_OK) {
        fprintf(stderr, "error: %s\n", canju_last_error());
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        int32_t outcome, plies;
        canju_best best;
        int32_t status = canju_probe_wdl(tables, argv[i], &outcome);
        if (status != CANJU_OK) {
            printf("error %d\n", status);
            fprintf(stderr, "error: %s\n", canju_last_error());
            failed = 1;
            continue;
        }
        printf("%s", name(outcome));
        if (canju_probe_distance(tables, argv[i], CANJU_DTM, &outcome, &plies) == CANJU_OK && plies >= 0)
            printf(" in %d", plies);
        if (canju_best_move(tables, argv[i], &best) == CANJU_OK)
            printf(", best %s (%s, dtm %d, dtc %d)", best.move, name(best.outcome), best.dtm, best.dtc);
        printf("\n");
    }
    canju_close(tables);
    return failed;
}
