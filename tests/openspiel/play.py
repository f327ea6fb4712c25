"""Plays random games of EinStein würfelt nicht! in OpenSpiel and prints what happens, for the example `agree` to check.

M position-with-roll;position-after;...   the moves that the roll allows, by what they lead to
T position;winner                         a game that is over
V position;chance                         the chance that the side to move wins before it rolls, by expectimax over
                                          OpenSpiel's own states
"""

import random
import sys

import pyspiel

# Up to which sum of distances chances are computed, by how many stones are left: the states are many.
SMALL_DISTANCES = {2: 16, 3: 20, 4: 15}
# Random moves seldom leave few stones: in so many games who can capture does.
CAPTURES = 0.7


def stones(state):
    """The stones as (colour, number, row, column). OpenSpiel's black is Red here, its white Blue."""
    rows = str(state).split("\n")[:5]
    for row, line in enumerate(rows):
        for column, cell in enumerate(line.strip("|").split("||")):
            if cell != "__":
                yield "R" if cell[0] == "b" else "B", cell[1], row, column


def position(state, side):
    return " ".join(f"{c}{n}{'abcde'[col]}{5 - row}" for c, n, row, col in stones(state)) + " " + side


def distances(state):
    return sum(8 - row - col if c == "R" else row + col for c, _, row, col in stones(state))


def side_to_move(state):
    return "r" if state.current_player() == 0 else "b"


def chance(state, side, known):
    """The chance of the side that is about to roll."""
    key = position(state, side)
    if key in known:
        return known[key]
    other = "b" if side == "r" else "r"
    total = 0.0
    for roll, probability in state.chance_outcomes():
        rolled = state.child(roll)
        best = 0.0
        for action in rolled.legal_actions():
            after = rolled.child(action)
            if after.is_terminal():
                best = max(best, float(after.returns()[rolled.current_player()] > 0))
            else:
                best = max(best, 1.0 - chance(after, other, known))
        total += probability * best
    known[key] = total
    return total


def choose(state, captures, dice):
    actions = state.legal_actions()
    left = len(list(stones(state)))
    taking = [action for action in actions if len(list(stones(state.child(action)))) < left] if captures else []
    return dice.choice(taking or actions)


def is_small(state):
    return distances(state) <= SMALL_DISTANCES.get(len(list(stones(state))), -1)


def play(game, dice, known):
    state = game.new_initial_state()
    side = None
    captures = dice.random() < CAPTURES
    while not state.is_terminal():
        if state.is_chance_node():
            if side and is_small(state):
                print(f"V {position(state, side)};{chance(state, side, known)!r}")
            outcomes = [outcome for outcome, _ in state.chance_outcomes()]
            roll = dice.choice(outcomes)
            name = state.action_to_string(-1, roll)
            state.apply_action(roll)
            die = name.split()[1] if name.startswith("roll") else None
            continue
        side = side_to_move(state)
        other = "b" if side == "r" else "r"
        after = [position(state.child(action), other) for action in state.legal_actions()]
        print(f"M {position(state, side)}{die};" + ";".join(after))
        state.apply_action(choose(state, captures, dice))
        side = other
    print(f"T {position(state, side)};{'r' if state.returns()[0] > 0 else 'b'}")


def main():
    games, seed = int(sys.argv[1]), int(sys.argv[2])
    game, dice, known = pyspiel.load_game("einstein_wurfelt_nicht"), random.Random(seed), {}
    for _ in range(games):
        play(game, dice, known)


main()
