/* canju: xiangqi endgame tables for engines in C and C++.
 *
 * Every function that can fail returns CANJU_OK (0) or another of the numbers below, and leaves what it was to fill
 * untouched when it fails; canju_last_error() then says what was wrong and what to do. Texts are UTF-8 and end with 0.
 * No function ends the process or throws.
 *
 * Tables may be asked by any number of threads at once. Only canju_close() must come when nobody asks any more.
 *
 * Distances are in plies, for the side to move; under rules that punish repetition they count to the next violation that
 * the loser must break off, as the tables do. A position is given as FEN with the side to move, "w" or "b":
 * "5k3/9/9/9/9/9/9/9/9/4K2R1 w".
 */
#ifndef CANJU_H
#define CANJU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Another one is not compatible. */
#define CANJU_ABI 1

/* What functions return. New numbers may come. */
#define CANJU_OK 0          /* It is done. */
#define CANJU_INVALID 1     /* A pointer is NULL, a text is not UTF-8, or a number or a name means nothing. */
#define CANJU_POSITION 2    /* The FEN is none, or no game leads to the position. */
#define CANJU_UNKNOWN 3     /* No table can hold the position: too many men. */
#define CANJU_MISSING 4     /* The table is not there, or has not this metric. */
#define CANJU_DAMAGED 5     /* The table is not what was written, or of another version of this software. */
#define CANJU_UNREACHABLE 6 /* The place cannot be opened or read: the disk, the network, or its name. */
#define CANJU_OVER 7        /* There is no legal move: the side to move has lost. */
#define CANJU_INTERNAL 8    /* A mistake of this library; please report it. */

/* Who wins, seen from the side to move. */
#define CANJU_WIN 1
#define CANJU_DRAW 0
#define CANJU_LOSS (-1)

/* Metrics: plies to mate, and plies to the winner's first capture or to mate. */
#define CANJU_DTM 1
#define CANJU_DTC 2

/* Instead of plies where there are none: in a draw, or where the table has not this metric. */
#define CANJU_NO_PLIES (-1)

/* Tables that are open. */
typedef struct canju_tables canju_tables;

/* A move and what the position is worth by it, for who makes it. */
typedef struct canju_best {
    char move[8];    /* The squares it leaves and enters, such as "h0f0"; ends with 0. */
    int32_t outcome; /* CANJU_WIN, CANJU_DRAW or CANJU_LOSS. */
    int32_t dtm;     /* Plies to mate with this move, or CANJU_NO_PLIES. */
    int32_t dtc;     /* Plies to conversion with this move, or CANJU_NO_PLIES. */
} canju_best;

/* The CANJU_ABI of the library, to be compared with this header's. */
int32_t canju_abi(void);

/* The version of the library, such as "0.1.0". Never freed. */
const char *canju_version(void);

/* What was wrong with the last call on this thread that failed; "" before. It stays until the next one that fails. */
const char *canju_last_error(void);

/* Opens the tables of a place: a folder, or, where the library was built with the feature `network`,
 * s3://bucket/prefix, http://... or https://... `rules` is the name of the rules of repetition, NULL for "plain".
 * Up to `cache_bytes` of decoded blocks are kept in memory, 0 for 256 MiB. Reads no table yet. */
int32_t canju_open(const char *place, const char *rules, uint64_t cache_bytes, canju_tables **tables);

/* Closes tables. NULL is let pass. */
void canju_close(canju_tables *tables);

/* Who wins. The fastest question. */
int32_t canju_probe_wdl(const canju_tables *tables, const char *fen, int32_t *outcome);

/* Who wins and in how many plies by a metric, CANJU_DTM or CANJU_DTC. In a draw `plies` becomes CANJU_NO_PLIES. */
int32_t canju_probe_distance(const canju_tables *tables, const char *fen, int32_t metric, int32_t *outcome,
                             int32_t *plies);

/* How many perpetual checks and chases the loser can commit in turn, each of which he must break off; 0 in a draw, and always
 * under "plain". Above 0 the plies of a metric do not run down to the end: within them he can only go on with one. Of two wins the one of lower order is the nearer,
 * whatever the plies. Since 0.1.0 of the library, which has it under CANJU_ABI 1. */
int32_t canju_probe_order(const canju_tables *tables, const char *fen, int32_t metric, int32_t *order);

/* The best move: the fastest win, else a draw, else the slowest loss; by distance to mate where the table has it, else
 * to conversion, else any that keeps the result. */
int32_t canju_best_move(const canju_tables *tables, const char *fen, canju_best *best);

#ifdef __cplusplus
}
#endif

#endif
