"""What several live explorables descend: 1 - AP by Algorithm 1, and a loss of six scores over a plane of directions."""

from rankedu.reference import rank, rank_among, rank_gradient
from rankedu_book.kit.live.hands import along, handle
from rankedu_book.kit.live.marks import scaled, shaded

#: Six scores as a ball moves to the right and upwards, and the weight that the loss gives each rank.
AXES = [[0.9, -0.2, -1.0, 0.5, 0.1, -0.4], [-0.3, 1.0, 0.2, 0.7, -0.9, -0.6]]
HOME, WEIGHTS = [0.1, -0.2, 0.3, 0.05, -0.1, -0.15], [0.3, 0.1, -0.25, -0.3, 0.2, -0.05]
FAR, LOWEST, HIGHEST = 1.6, -1.4, 2.1


def ap_gradient(y, relevant, lam):
    """Of 1 - AP = 1 - mean of rk(y+) / rk(y): Algorithm 1 once for each of the two ranks."""
    n, ranks, among = sum(relevant), rank(y), rank_among(y, relevant)
    above = [b / (n * a * a) if r else 0.0 for a, b, r in zip(ranks, among, relevant)]
    total = rank_gradient(y, above, lam)
    members = [i for i in range(len(y)) if relevant[i]]
    within = rank_gradient([y[i] for i in members], [-1 / (n * ranks[i]) for i in members], lam)
    for i, slope in zip(members, within):
        total[i] += slope
    return total


def scores(point):
    return [at + point[0] * u + point[1] * v for at, u, v in zip(HOME, AXES[0], AXES[1])]


def loss(y):
    """The loss itself, a staircase: the weighted ranks."""
    return sum(weight * place for weight, place in zip(WEIGHTS, rank(y)))


def place(point, square):
    """Where a point of the plane is drawn: in a square of (left, top, bottom)."""
    left, top, bottom = square
    return [scaled(point[0], -FAR, FAR, left, left + bottom - top), scaled(point[1], -FAR, FAR, bottom, top)]


def pin(name, of, point, square, also=None):
    """What is dragged over the plane: the handle of a point that the state keeps."""
    left, top, bottom = square
    moves = [along("x", of, 0, -FAR, FAR, left, left + bottom - top), along("y", of, 1, -FAR, FAR, bottom, top)]
    says = f"{point[0]:.2f} to the right, {point[1]:.2f} up, loss {loss(scores(point)):.2f}"
    return handle(name, *place(point, square), says, moves, also)


def grid(function, cells):
    """What a function of the scores is in the middle of each cell of the plane, in rows from the top."""
    centres = [(k + 0.5) * 2 * FAR / cells - FAR for k in range(cells)]
    return [[function(scores([x, -y])) for x in centres] for y in centres]


def landscape(height, cells, square):
    """A function of the scores in shades, over the plane."""
    left, top, bottom = square
    return shaded(grid(height, cells), LOWEST, HIGHEST, left, top, (bottom - top) / cells)
