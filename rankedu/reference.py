"""The book in one file: every definition that it teaches, in its plainest form.

Lists in, lists or numbers out; nothing is imported but `math`. The scores ``y`` are a list, larger is better;
``relevant`` is a list of truth values, ``rel`` one of numbers >= 0, both of the same length. An item that does not take
part is not in the lists; a query without a relevant item has the value nan. The fast functions of the library give the
same numbers, and are tested against these. `Fraction`s give exact `Fraction`s where no root, log or exp is taken.
"""

import math

# -------------------------------------------------------------------------------- ranks
# rk(y)_i = 1 + |{j : y_j > y_i}|       RaMBO Eq. 2; equal scores go by position (Eq. 1)


def order(y):
    """The items from the best to the worst."""
    return sorted(range(len(y)), key=lambda i: -y[i])  # Python's sort keeps the order of equals


def rank(y, ties="ordinal"):
    """The rank of every item, 1 for the best; ties by position, or all best, or worst.
    >>> [rank([0.5, 0.9, 0.5], ties) for ties in ("ordinal", "min", "max")]
    [[2, 1, 3], [2, 1, 2], [3, 1, 3]]
    """
    if ties == "min":
        return [1 + sum(other > score for other in y) for score in y]
    if ties == "max":
        return [sum(other >= score for other in y) for score in y]
    place = {item: number for number, item in enumerate(order(y), 1)}
    return [place[i] for i in range(len(y))]


def rank_among(y, members):
    """rk(y+): the rank of every member among the members, 0 for others (RaMBO Eq. 17).
    >>> rank_among([0.9, 0.1, 0.5], [True, False, True])
    [1, 0, 2]
    """
    chosen = [i for i in range(len(y)) if members[i]]
    among = dict(zip(chosen, rank([y[i] for i in chosen])))
    return [among.get(i, 0) for i in range(len(y))]


def outranking_negatives(y, relevant):
    """r_i = rk(y)_i - rk(y+)_i: irrelevant items above a relevant one (RaMBO Eq. 17).
    >>> outranking_negatives([0.9, 0.8, 0.7], [False, True, True])
    [0, 1, 1]
    """
    return [(a - b) * bool(r) for a, b, r in zip(rank(y), rank_among(y, relevant), relevant)]


# ---------------------------------------------------- blackbox differentiation of ranks
# rk(y) minimises y·π over all permutations π of 1, ..., n          RaMBO Proposition 1: larger scores, smaller ranks


def rank_gradient(y, incoming, lam):
    """Algorithm 1: the difference quotient of the ranks, a step lam · incoming away.
    >>> rank_gradient([0.9, 0.1, 0.5], [0, 1, 0], lam=4.0)
    [0.25, -0.5, 0.25]
    """
    moved = [score + lam * step for score, step in zip(y, incoming)]
    return [(after - before) / lam for after, before in zip(rank(moved), rank(y))]


def optimal_value(z):
    """m(z) = min over π of z·π: concave and piecewise linear, as minima are."""
    return sum(place * score for place, score in zip(rank(z), z))


def interpolated(y, c, lam):
    """f_lam(y) = (m(y + lam c) - m(y)) / lam, whose gradient is Algorithm 1's.
    >>> interpolated([0.5, 0.0], [1.0, 0.0], lam=1.0)  # Eq. 10; the loss itself is 1
    1.0
    >>> interpolated([-0.5, 0.0], [1.0, 0.0], lam=1.0)  # here it is 2
    1.5
    """
    return (optimal_value([score + lam * slope for score, slope in zip(y, c)]) - optimal_value(y)) / lam


# ------------------------------------------------------------- metrics: how good is it?


def mean(values):
    """The mean; nan of nothing."""
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def ratio(count, of, y):
    """count / of, as the kind of number that the scores are: `Fraction`s stay exact."""
    return type(y[0])(count) / of


# AP = mean over relevant i of Prec(i),   Prec(i) = rk(y+)_i / rk(y)_i                       RaMBO Eq. 4, 5 and 21


def average_precision(y, relevant, ties="ordinal"):
    """The mean over the relevant items of the precision at their ranks.

    Of tied items: the order of the list, or relevant ones last, or first, or any order.
    >>> average_precision([0.9, 0.8, 0.7, 0.1], [False, True, True, False])
    0.5833333333333333
    >>> tied = [0.5, 0.5], [True, False]
    >>> [average_precision(*tied, t) for t in ("pessimistic", "optimistic", "expected")]
    [0.5, 1.0, 0.75]
    """
    if ties == "expected":
        return expected_average_precision(y, relevant)
    if ties != "ordinal":
        first = sorted(range(len(y)), key=lambda i: bool(relevant[i]) == (ties == "pessimistic"))
        y, relevant = [y[i] for i in first], [relevant[i] for i in first]
    return mean(ratio(a, b, y) for a, b, r in zip(rank_among(y, relevant), rank(y), relevant) if r)


def expected_average_precision(y, relevant):
    """The mean of AP over all orders of tied items."""
    total, above, found = [], 0, 0
    for score in sorted(set(y), reverse=True):
        group = [bool(r) for other, r in zip(y, relevant) if other == score]
        size, positives = len(group), sum(group)
        for place in range(size if positives else 0):
            before = ratio((positives - 1) * place, max(size - 1, 1), y)  # of the other positives, in expectation
            total.append(ratio(positives, size, y) * (found + 1 + before) / (above + place + 1))
        above, found = above + size, found + positives
    return sum(total) / found if found else math.nan


def average_precision_at_k(y, relevant, k):
    """AP@K: a relevant item that is not among the first k adds 0."""
    return mean(ratio(a, b, y) * (b <= k) for a, b, r in zip(rank_among(y, relevant), rank(y), relevant) if r)


def map_at_r(y, relevant):
    """AP at R, the number of relevant items."""
    return average_precision_at_k(y, relevant, sum(map(bool, relevant)))


def precision_at_k(y, relevant, k):
    """The share of the first k that is relevant (RaMBO Eq. 5, at any rank)."""
    return (
        ratio(sum(bool(r) and place <= k for r, place in zip(relevant, rank(y))), k, y) if any(relevant) else math.nan
    )


def recall_at_k(y, relevant, k):
    """1 if one of the first k is relevant, else 0: the recall of RaMBO Eq. 7; hit rate.
    >>> [recall_at_k([0.9, 0.8, 0.7], [False, True, True], k) for k in (1, 2, 3)]
    [0, 1, 1]
    """
    return int(any(r and place <= k for r, place in zip(relevant, rank(y)))) if any(relevant) else math.nan


def recall_share_at_k(y, relevant, k):
    """The share of what is relevant that is among the first k: recall, elsewhere."""
    return mean(ratio(place <= k, 1, y) for r, place in zip(relevant, rank(y)) if r)


def r_precision(y, relevant):
    """Precision at R, the number of relevant items; there it is recall, too."""
    return recall_share_at_k(y, relevant, sum(map(bool, relevant)))


def reciprocal_rank(y, relevant):
    """1 / rank of the best relevant item."""
    return max((ratio(1, place, y) for r, place in zip(relevant, rank(y)) if r), default=math.nan)


def spearman(y, target):
    """The correlation of the ranks; tied items share the mean of theirs."""
    a, b = ([low + high - len(y) - 1 for low, high in zip(rank(x, "min"), rank(x, "max"))] for x in (y, target))
    spread = math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))
    return sum(x * z for x, z in zip(a, b)) / spread if spread else math.nan


def ndcg(y, gains, k=math.inf, ranker=rank):
    """Gains over log2(1 + rank), divided by those of the best order; up to rank k.

    Of the ranks of any ranker: soft ones count below k + 1/2.
    >>> round(ndcg([0.5, 0.5], [1, 0], ranker=lambda y: [1.5, 1.5]), 4)  # 1 / log2(2.5)
    0.7565
    """
    orders = ranker(y), rank(gains)
    found, best = (sum(g / math.log2(1 + r) for g, r in zip(gains, ranks) if r < k + 0.5) for ranks in orders)
    return found / best if best else math.nan


# ----------------------------------------------------------------- losses of hard ranks


def shift_by_margin(y, relevant, margin):
    """Lower the relevant scores by half the margin, raise all others (RaMBO Eq. 14).
    >>> shift_by_margin([1.0, 0.0], [True, False], margin=0.5)
    [0.75, 0.25]
    """
    return [score - margin / 2 if r else score + margin / 2 for score, r in zip(y, relevant)]


def _against(y, relevant):
    """The same list, reordered so that ties go against the relevant items, as after a vanishing margin.
    >>> _against([0.5, 0.5], [True, False])
    ([0.5, 0.5], [False, True])
    """
    items = sorted(range(len(y)), key=lambda i: relevant[i])
    return [y[i] for i in items], [relevant[i] for i in items]


def loss_at_k(y, relevant, k):
    """L@K: the share of relevant items that k irrelevant ones outrank (Eq. 16, 18)."""
    return mean(ratio(negatives >= k, 1, y) for negatives, r in zip(outranking_negatives(y, relevant), relevant) if r)


# sum over K of w_K L@K  =  mean over relevant i of W(r_i),   W(k) = w_1 + ... + w_k          RaMBO Eq. 19, Prop. 2


def recall_loss(y, relevant, W):
    """The mean of W over how many irrelevant items outrank each relevant one.
    >>> y, relevant = [0.9, 0.8, 0.7, 0.6], [False, True, False, True]
    >>> recall_loss(y, relevant, W_log)  # (log 2 + log 3) / 2
    0.8958797346140275
    """
    y, relevant = _against(y, relevant)
    return mean(W(negatives) for negatives, r in zip(outranking_negatives(y, relevant), relevant) if r)


def W_log(k):
    """log(1 + k): its weights w_K = log(1 + 1/K) fall like 1/K (RaMBO Eq. 20)."""
    return math.log(1 + k)


def W_loglog(k):
    """log(1 + log(1 + k)): its weights fall like 1/(K log K) (RaMBO Eq. 20)."""
    return math.log(1 + math.log(1 + k))


def mean_average_precision_loss(scores, relevant):
    """1 - mAP of scores by item and class: each class is a query (Eq. 6 and 22)."""
    classes = zip(zip(*scores), zip(*relevant))
    return 1 - mean(average_precision(y, r, "pessimistic") for y, r in classes if any(r))


def class_agnostic_loss(scores, relevant):
    """1 - APC: the scores of all classes in one list, class after class (Eq. 23)."""
    y, r = ([value for column in zip(*table) for value in column] for table in (scores, relevant))
    return 1 - average_precision(y, r, "pessimistic")


# --------------------------------------------------------------------------- soft ranks
# rk(y)_k = 1 + sum over j != k of σ((y_j - y_k) / τ)                 Smooth-AP: the staircase of Eq. 2 with a sigmoid


def sigmoid(x):
    """1 / (1 + exp(-x)), in a form that cannot overflow."""
    return (1 + math.tanh(x / 2)) / 2


def sigmoid_rank(y, temperature, members=None):
    """The rank with sigmoids, among all items or the members alone."""
    inside = [j for j in range(len(y)) if members is None or members[j]]
    return [1 + sum(sigmoid((y[j] - y[k]) / temperature) for j in inside if j != k) for k in range(len(y))]


def smooth_ap(y, relevant, temperature):
    """Average precision of sigmoid ranks: the mean of soft rk(y+) / rk(y).
    >>> round(smooth_ap([0.9, 0.5], [False, True], temperature=0.2), 4)  # 1 / 1.881
    0.5317
    """
    within, ranks = sigmoid_rank(y, temperature, relevant), sigmoid_rank(y, temperature)
    return mean(a / b for a, b, r in zip(within, ranks, relevant) if r)


# h_l = sum_j max(0, 1 - |(1 - y_j) L/2 - l|),   H_l = h_0 + ... + h_l            centre 0 is the highest score, 1


def soft_histogram(y, bins):
    """Each score in [-1, 1] shares itself out between the nearest of bins + 1 centres.
    >>> soft_histogram([0.75, 0.25, -0.25], bins=4)
    [0.5, 1.0, 1.0, 0.5, 0]
    """
    places = [(1 - min(max(score, -1), 1)) * bins / 2 for score in y]
    return [sum(max(0, 1 - abs(place - centre)) for place in places) for centre in range(bins + 1)]


def histogram_rank(y, bins):
    """The rank to be expected if each item falls into one of its bins, in random order.
    >>> histogram_rank([0.75, 0.25, -0.25], bins=4)
    [1.125, 2.0, 2.875]
    """
    h = soft_histogram(y, bins)
    middle = [(1 + own) / 2 + sum(h[:centre]) for centre, own in enumerate(h)]
    return [sum(share * m for share, m in zip(soft_histogram([score], bins), middle)) for score in y]


def fast_ap(y, relevant, bins):
    """FastAP = (1 / N+) sum over l of h+_l H+_l / H_l, of scores that are cosines.
    >>> fast_ap([1.0, 0.5, 0.0], [True, False, True], bins=4)  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    h, h_plus = soft_histogram(y, bins), soft_histogram([score for score, r in zip(y, relevant) if r], bins)
    shares = [a * sum(h_plus[: end + 1]) / sum(h[: end + 1]) for end, a in enumerate(h_plus) if a]
    return sum(shares) / sum(map(bool, relevant)) if any(relevant) else math.nan


# P(-y / ε) = argmin over points p of the permutahedron of |p + y / ε|                        Blondel et al., 2020


def projected_rank(y, strength):
    """The nearest point to -y / ε: ranks, and straight lines where scores are near.

    From best to worst, blocks are joined until the means of -y_i / ε - i rise.
    >>> projected_rank([3.0, 2.0, 0.0], strength=1.0)
    [1.0, 2.0, 3.0]
    >>> projected_rank([0.5, 0.0], strength=1.0)
    [1.25, 1.75]
    """
    blocks = []  # of items that stand together: their places, and their scores over ε with the sign turned
    for place, item in enumerate(order(y), 1):
        blocks.append([(place, -y[item] / strength, item)])
        while len(blocks) > 1 and _level(blocks[-2]) > _level(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    ranks = {item: value - _level(block) for block in blocks for _, value, item in block}
    return [ranks[i] for i in range(len(y))]


def _level(block):
    return sum(value - place for place, value, _ in block) / len(block)


# -------------------------------------------------------------------------- hierarchies


def level(path, query):
    """How many labels two paths from the root share before they part.
    >>> level(["bird", "owl"], ["bird", "kiwi"])
    1
    """
    same = [a == b for a, b in zip(path, query)]
    return same.index(False) if False in same else len(same)


# rel(k) = (l / L)^α / |Ω(l)| for an item k of level l                     HAPPIER Eq. 4


def relevance(levels, alpha=1, n_levels=None, monotone=False):
    """The weight of a level, shared among its items, or all at least as near.
    >>> relevance([2, 1, 1, 0])
    [1.0, 0.25, 0.25, 0.0]
    """
    deepest = n_levels or max(levels) or 1
    sharing = {own: sum(other == own or (monotone and other > own) for other in levels) for own in levels}
    return [(own / deepest) ** alpha / sharing[own] if own else 0.0 for own in levels]


def weighted_ap_relevance(levels, weights):
    """rel(k) = sum over p <= l of w_p / |Ω(>= p)|: then H-AP is a weighted mean AP."""
    at_least = [sum(own >= depth for own in levels) for depth in range(1, len(weights) + 1)]
    return [sum(w / count for w, count in zip(weights[:own], at_least)) for own in levels]


# H-rank(k) = rel(k) + sum over j above k of min(rel(k), rel(j))           HAPPIER Eq. 2


def h_rank(y, rel):
    """A rank in which an item counts as much as it has in common with the query and k.
    >>> h_rank([0.9, 0.8, 0.7], [0.5, 0.0, 1.0])
    [0.5, 0.0, 1.5]
    """
    items = list(zip(rel, rank(y)))
    return [own + sum(min(own, other) for other, above in items if above < place) for own, place in items]


# H-rank(k) = sum over t with r_t <= rel(k) of (r_t - r_{t-1}) rk({j : rel(j) >= r_t})_k         chapter 13 of the book


def h_rank_nested(y, rel):
    """The same as a weighted sum of ranks within nested sets, for any ranker."""
    total, below = [0 * own for own in rel], 0
    for grade in sorted(set(rel) - {0}):
        within = rank_among(y, [own >= grade for own in rel])
        total = [so_far + (grade - below) * place for so_far, place in zip(total, within)]
        below = grade
    return total


def hierarchical_average_precision(y, rel):
    """H-AP: the sum of H-rank / rank, over that of the relevances (HAPPIER Eq. 3).
    >>> y, rel = [0.9, 0.8, 0.7], [0.5, 0.0, 1.0]
    >>> hierarchical_average_precision(y, rel)  # (0.5/1 + 1.5/3) / 1.5
    0.6666666666666666
    """
    shares = [numerator / place for numerator, place, own in zip(h_rank(y, rel), rank(y), rel) if own]
    return sum(shares) / sum(rel) if shares else math.nan


def average_set_intersection(y, levels):
    """ASI: how much of the ideal first k, level by level, is there; the mean up to R.
    >>> average_set_intersection([0.8, 0.9, 0.7], [2, 1, 0])  # (0/1 + 2/2) / 2
    0.5
    """
    found, ideal, kinds = [levels[i] for i in order(y)], sorted(levels, reverse=True), set(levels) - {0}
    depths = range(1, 1 + sum(own > 0 for own in levels))
    return mean(ratio(sum(min(found[:k].count(v), ideal[:k].count(v)) for v in kinds), k, y) for k in depths)


# step(x) = σ(x/τ) for x <= 0;  1/2 + σ(x/τ) up to δ;  ρ (x - δ) + offset beyond                     HAPPIER Section 3.2


def happier_step(x, temperature=0.01, slope=100.0, delta=0.05, offset=None, start=0.5):
    """HAPPIER's step above the Heaviside function; offset None leaves no jump."""
    if x <= delta:
        return sigmoid(x / temperature) + (start if x > 0 else 0)
    return slope * (x - delta) + (start + sigmoid(delta / temperature) if offset is None else offset)


def happier_lower_step(x, below=10, above=25):
    """HAPPIER's step below the Heaviside function, for items of higher relevance."""
    return min((2 * above * x + 1) / 2, 1) if x > 0 else below * x


def happier_loss(y, rel, step=happier_step, lower=None):
    """1 - H-AP with ranks from above: less relevant items count by the step.

    Source: HAPPIER Eq. 5.

    Of two tied items the less relevant stands below. A lower step: H-rank from below.
    >>> round(happier_loss([0.9, 0.8, 0.7, 0.1], [0.5, 0.0, 1.0, 0.0]), 4)
    0.625
    """
    total = 0
    for k, own in enumerate(rel):
        others = [(y[j] - y[k], rel[j]) for j in range(len(y)) if j != k]
        counts = [lower(x) if lower and other > own else (x, other) >= (0, own) for x, other in others]
        numerator = own + sum(min(own, other) * count for count, (_, other) in zip(counts, others))
        hard = 1 + sum(x >= 0 for x, other in others if other >= own)
        total += numerator / (hard + sum(step(x) for x, other in others if other < own))
    return 1 - total / sum(rel) if any(rel) else math.nan


def clustering_loss(cosines, label, temperature=0.05):
    """-log softmax of the cosines with all proxies, at the own class (Eq. 6)."""
    largest = max(cosines)
    spread = math.log(sum(math.exp((cosine - largest) / temperature) for cosine in cosines))
    return spread - (cosines[label] - largest) / temperature


def happier(y, rel, cosines, label, weight=0.1):
    """HAPPIER: (1 - λ) of the loss of H-AP and λ of the clustering loss (Eq. 7)."""
    return (1 - weight) * happier_loss(y, rel) + weight * clustering_loss(cosines, label)


# ------------------------------------------ later and related losses: chapters 17 to 20 of the book
# dL/dy = -P'(y) g of what comes in, g: the solver's Jacobian is minus the identity                  Sahoo et al., 2023


def identity_gradient(y, incoming, project="mean"):
    """The gradient that comes in, its sign turned; its mean taken out, and with "std" what changes the spread of y.
    >>> identity_gradient([0.9, 0.1, 0.5], [0, 3, 0])
    [1.0, -2.0, 1.0]
    """
    slopes = [slope - (mean(incoming) if project != "none" else 0) for slope in incoming]
    if project == "std":
        centred = [score - mean(y) for score in y]
        length = math.sqrt(sum(score * score for score in centred))
        along = sum(slope * score for slope, score in zip(slopes, centred)) / length if length else 0
        slopes = [(slope - along * score / length) / length if length else 0.0 for slope, score in zip(slopes, centred)]
    return [-slope for slope in slopes]


# R@k = sum over relevant i of σ((k - rk(y)_i) / T) / min(k, p)                                      Patel et al., 2022


def recall_at_k_surrogate(y, relevant, k, temperature, ranker=rank):
    """The share of the first k that is relevant, of as many as there can be, at most 1; a rank of k counts one half.
    >>> recall_at_k_surrogate([0.9, 0.8, 0.7], [True, True, False], k=1, temperature=0.01)
    0.5
    """
    inside = [sigmoid((k - place) / temperature) for place, r in zip(ranker(y), relevant) if r]
    return min(sum(inside) / min(k, len(inside)), 1) if inside else math.nan


# sum over pairs G_i > G_j of |ΔNDCG_ij| log2(1 + exp((y_j - y_i) / τ))           Burges et al., 2006; Wang et al., 2018


def lambda_rank_loss(y, gains, temperature=1.0):
    """LambdaRank as a loss: each pair weighs what NDCG changes by when its two items change places.
    >>> lambda_rank_loss([0.5, 0.5], [0, 1])  # log2(2) (1/log2(2) - 1/log2(3))
    0.36907024642854247
    """
    discounts = [1 / math.log2(1 + place) for place in rank(y)]
    best = sum(gain / math.log2(1 + place) for gain, place in zip(gains, rank(gains)))
    items, total = list(zip(y, gains, discounts)), 0
    for score, gain, discount in items:
        for other, less, at in items:
            if gain > less:
                cost = max((other - score) / temperature, 0) + math.log1p(math.exp(-abs(other - score) / temperature))
                total += (gain - less) * abs(discount - at) * cost / math.log(2)
    return total / best


# row i of NeuralSort: softmax over j of ((n + 1 - 2i) y_j - sum_k |y_j - y_k|) / τ                 Grover et al., 2019
# row i of SoftSort:   softmax over j of -|y_[i] - y_j| / τ,  y_[i] the i-th largest                Prillo et al., 2020


def neural_sort(y, temperature):
    """A matrix near the permutation that sorts: its row i says who stands at place i.
    >>> [[round(share, 2) for share in row] for row in neural_sort([0.0, 1.0], temperature=1.0)]
    [[0.27, 0.73], [0.73, 0.27]]
    """
    away = [sum(abs(score - other) for other in y) for score in y]
    places = range(len(y) - 1, -len(y), -2)
    return [_softmax([(slope * s - a) / temperature for s, a in zip(y, away)]) for slope in places]


def soft_sort(y, temperature):
    """The same by the distance to the score that stands there.
    >>> [[round(share, 2) for share in row] for row in soft_sort([0.0, 1.0], temperature=1.0)]
    [[0.27, 0.73], [0.73, 0.27]]
    """
    return [_softmax([-abs(y[i] - score) / temperature for score in y]) for i in order(y)]


# rows i, i + 1 of DiffSort: s r_i + (1 - s) r_{i+1} and the reverse, s = σ((y_i - y_{i+1}) / τ)  Petersen et al., 2021


def diff_sort(y, temperature):
    """The same by n layers of neighbours that are compared, and change places softly: odd ones, even ones, in turn.
    >>> [[round(share, 2) for share in row] for row in diff_sort([0.0, 1.0], temperature=1.0)]
    [[0.27, 0.73], [0.73, 0.27]]
    """
    rows = [[float(i == j) for j in range(len(y))] for i in range(len(y))]
    for layer in range(len(y)):
        for i in range(layer % 2, len(y) - 1, 2):
            gap = sum((share - other) * score for share, other, score in zip(rows[i], rows[i + 1], y))
            stay = sigmoid(gap / temperature)
            rows[i : i + 2] = _mixed(rows[i], rows[i + 1], stay), _mixed(rows[i + 1], rows[i], stay)
    return rows


def _mixed(row, other, stay):
    return [stay * share + (1 - stay) * against for share, against in zip(row, other)]


def place_of(rows):
    """The soft rank of every item from such a matrix: the sum over its rows i of i times its share."""
    return [sum(place * share for place, share in enumerate(column, 1)) for column in zip(*rows)]


def _softmax(values):
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def lap_sum_rank(y, temperature):
    """The sigmoid rank with the distribution of Laplace: exponentials, which add up along the sorted list.
    >>> lap_sum_rank([0.5, 0.5], temperature=1.0)
    [1.5, 1.5]
    """
    return [sum(_laplace((other - score) / temperature) for other in y) + 0.5 for score in y]


def _laplace(x):
    half = math.exp(-abs(x)) / 2
    return 1 - half if x > 0 else half


# u <- (1 - γ) u + γ (rank here),   d(1 - AP) = mean of u+/u² d rk - 1/u d rk+                           Qi et al., 2021


def soap(averages, ranks, gamma):
    """One step of SOAP for one query: the averages (rk+, rk) of its relevant items, and the slopes of 1 - AP by both.
    >>> soap([(1.0, 4.0)], [(1.0, 2.0)], gamma=0.5)
    ([(1.0, 3.0)], [(-0.3333333333333333, 0.1111111111111111)])
    """
    moved = [tuple((1 - gamma) * a + gamma * b for a, b in zip(old, new)) for old, new in zip(averages, ranks)]
    return moved, [(-1 / (len(moved) * u), within / (len(moved) * u * u)) for within, u in moved]
