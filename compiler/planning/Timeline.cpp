#include "compiler/planning/Timeline.h"

#include <algorithm>
#include <limits>

namespace autopar::planning {

namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max() / 4;

/// How many busy stretches a request for a share skips one by one before it settles for an idle
/// segment.
constexpr int kMostTries = 16;

} // namespace

Timeline::Timeline(uint32_t capacity, int64_t shortestUse)
    : capacity(capacity), shortestUse(shortestUse) {
  nodes.emplace_back();
  nodes[0].leastUsed = std::numeric_limits<uint32_t>::max();
  root = newNode(0, kForever, 0);
}

// ---- the tree: a treap ordered by start
// ------------------------------------------------------------------------

Timeline::Index Timeline::newNode(int64_t start, int64_t length, uint32_t used) {
  Index index;
  if (freeNodes.empty()) {
    index = nodes.size();
    nodes.emplace_back();
  } else {
    index = freeNodes.back();
    freeNodes.pop_back();
  }
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  Node &node = nodes[index];
  node = Node();
  node.start = start;
  node.length = length;
  node.used = used;
  node.priority = static_cast<uint32_t>(randomState >> 32);
  pull(index);
  return index;
}

// nodes[0] stands for "no subtree": idle 0, most used 0, least used infinite.
void Timeline::pull(Index index) {
  Node &node = nodes[index];
  const Node &left = nodes[node.left], &right = nodes[node.right];
  node.longestIdle = std::max(left.longestIdle, right.longestIdle);
  if (node.used == 0)
    node.longestIdle = std::max(node.longestIdle, node.length);
  node.mostUsed = std::max({node.used, left.mostUsed, right.mostUsed});
  node.leastUsed = std::min({node.used, left.leastUsed, right.leastUsed});
}

void Timeline::split(Index node, int64_t key, Index &before, Index &from) {
  before = from = 0;
  Index lastBefore = 0, lastFrom = 0;
  path.clear();
  while (node != 0) {
    path.push_back(node);
    if (nodes[node].start < key) {
      (lastBefore ? nodes[lastBefore].right : before) = node;
      lastBefore = node;
      node = nodes[node].right;
    } else {
      (lastFrom ? nodes[lastFrom].left : from) = node;
      lastFrom = node;
      node = nodes[node].left;
    }
  }
  if (lastBefore)
    nodes[lastBefore].right = 0;
  if (lastFrom)
    nodes[lastFrom].left = 0;
  for (; !path.empty(); path.pop_back())
    pull(path.back());
}

Timeline::Index Timeline::merge(Index left, Index right) {
  Index result = 0;
  Index parent = 0;
  bool intoRight = false;
  path.clear();
  auto attach = [&](Index node) {
    if (parent == 0)
      result = node;
    else
      (intoRight ? nodes[parent].right : nodes[parent].left) = node;
  };
  while (left != 0 && right != 0) {
    bool leftOnTop = nodes[left].priority > nodes[right].priority;
    Index top = leftOnTop ? left : right;
    attach(top);
    path.push_back(top);
    parent = top;
    intoRight = leftOnTop;
    if (leftOnTop)
      left = nodes[left].right;
    else
      right = nodes[right].left;
  }
  attach(left != 0 ? left : right);
  for (; !path.empty(); path.pop_back())
    pull(path.back());
  return result;
}

Timeline::Index Timeline::leftmost(Index node) const {
  while (nodes[node].left != 0)
    node = nodes[node].left;
  return node;
}

Timeline::Index Timeline::rightmost(Index node) const {
  while (nodes[node].right != 0)
    node = nodes[node].right;
  return node;
}

void Timeline::popLeftmost(Index &tree, Node &out) {
  path.clear();
  Index node = tree;
  for (; nodes[node].left != 0; node = nodes[node].left)
    path.push_back(node);
  out = nodes[node];
  (path.empty() ? tree : nodes[path.back()].left) = nodes[node].right;
  freeNodes.push_back(node);
  for (; !path.empty(); path.pop_back())
    pull(path.back());
}

void Timeline::popRightmost(Index &tree, Node &out) {
  path.clear();
  Index node = tree;
  for (; nodes[node].right != 0; node = nodes[node].right)
    path.push_back(node);
  out = nodes[node];
  (path.empty() ? tree : nodes[path.back()].right) = nodes[node].left;
  freeNodes.push_back(node);
  for (; !path.empty(); path.pop_back())
    pull(path.back());
}

// Adds a segment that starts where the last one of `tree` ends; equal use makes them one segment.
Timeline::Index Timeline::append(Index tree, Node segment) {
  if (tree != 0 && nodes[rightmost(tree)].used == segment.used) {
    Node last;
    popRightmost(tree, last);
    segment.start = last.start;
    segment.length += last.length;
  }
  return merge(tree, newNode(segment.start, segment.length, segment.used));
}

// ---- search
// ----------------------------------------------------------------------------------------------------

// The last segment that starts before `key`, if it passes `hereTest`; else the first one in time
// order that starts at `key` or later and passes `nodeTest`; `treeTest` says whether a subtree
// holds one that does. 0: none.
template <class NodeTest, class TreeTest, class HereTest>
Timeline::Index Timeline::firstStartingFrom(int64_t key, NodeTest nodeTest, TreeTest treeTest,
                                            HereTest hereTest) const {
  path.clear();
  Index here = 0;
  for (Index node = root; node != 0;) {
    if (nodes[node].start >= key) {
      path.push_back(node);
      node = nodes[node].left;
    } else {
      here = node;
      node = nodes[node].right;
    }
  }
  if (here != 0 && hereTest(nodes[here]))
    return here;
  for (; !path.empty(); path.pop_back()) {
    Index node = path.back();
    if (nodeTest(nodes[node]))
      return node;
    node = nodes[node].right;
    if (node == 0 || !treeTest(nodes[node]))
      continue;
    while (true) {
      Index left = nodes[node].left;
      if (left != 0 && treeTest(nodes[left]))
        node = left;
      else if (nodeTest(nodes[node]))
        return node;
      else
        node = nodes[node].right;
    }
  }
  return 0;
}

int64_t Timeline::firstIdle(int64_t ready, int64_t duration) const {
  Index found = firstStartingFrom(
      ready + 1, [&](const Node &node) { return node.used == 0 && node.length >= duration; },
      [&](const Node &tree) { return tree.longestIdle >= duration; },
      // Before those, the segment that holds `ready`: what is left of it may do.
      [&](const Node &here) {
        return here.used == 0 && here.start + here.length - ready >= duration;
      });
  return std::max(ready, nodes[found].start);
}

int64_t Timeline::endOfLastAbove(uint32_t level) const {
  Index node = root;
  if (nodes[node].mostUsed <= level)
    return 0;
  while (true) {
    if (nodes[nodes[node].right].mostUsed > level)
      node = nodes[node].right;
    else if (nodes[node].used > level)
      return nodes[node].start + nodes[node].length;
    else
      node = nodes[node].left;
  }
}

int64_t Timeline::firstFit(int64_t ready, int64_t duration, uint32_t share) const {
  if (ready >= idleFrom)
    return ready;
  const uint32_t level = capacity - std::min(share, capacity); // what others may use meanwhile
  if (level == 0)
    return firstIdle(ready, duration);
  auto above = [&](const Node &node) { return node.used > level; };
  auto someAbove = [&](const Node &tree) { return tree.mostUsed > level; };
  auto never = [](const Node &) { return false; };
  auto below = [&](const Node &node) { return node.used <= level; };
  auto someBelow = [&](const Node &tree) { return tree.leastUsed <= level; };
  int64_t start = ready;
  Index obstacle = firstStartingFrom(start + 1, above, someAbove, above);
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (obstacle == 0 || nodes[obstacle].start >= start + duration)
      return start;
    start = nodes[firstStartingFrom(nodes[obstacle].start + 1, below, someBelow, never)].start;
    obstacle = firstStartingFrom(start + 1, above, someAbove, never);
  }
  return std::min(firstIdle(start, duration), std::max(start, endOfLastAbove(level)));
}

// ---- reservation
// -----------------------------------------------------------------------------------------------

// Each segment is visited once per task that runs during it, hence at most `streams` times in all.
void Timeline::addToAll(Index tree, uint32_t share) {
  if (tree == 0)
    return;
  path.clear();
  path.push_back(tree);
  while (!path.empty()) {
    Node &node = nodes[path.back()];
    path.pop_back();
    node.used += share;
    node.mostUsed += share;
    node.leastUsed += share;
    node.longestIdle = 0;
    if (node.left != 0)
      path.push_back(node.left);
    if (node.right != 0)
      path.push_back(node.right);
  }
}

// The most frequent case in place: the interval is the beginning of an idle segment, and the
// segment before is used just as much. Only the idle segment's length changes for the rest of the
// tree.
bool Timeline::extendSegmentBefore(int64_t start, int64_t finish, uint32_t share) {
  path.clear();
  Index before = 0, node = root;
  while (node != 0 && nodes[node].start != start) {
    path.push_back(node);
    if (nodes[node].start < start)
      before = node;
    node = nodes[node].start < start ? nodes[node].right : nodes[node].left;
  }
  if (node == 0 || nodes[node].used != 0)
    return false;
  int64_t rest = nodes[node].start + nodes[node].length - finish;
  if (rest < shortestUse)
    return false;
  if (nodes[node].left != 0)
    before = rightmost(nodes[node].left);
  if (before == 0 || nodes[before].used != share)
    return false;
  nodes[before].length += finish - start;
  nodes[node].start = finish;
  nodes[node].length = rest;
  pull(node);
  for (; !path.empty(); path.pop_back())
    pull(path.back());
  return true;
}

void Timeline::reserve(int64_t start, int64_t finish, uint32_t share) {
  share = std::min(share, capacity);
  idleFrom = std::max(idleFrom, finish);
  if (extendSegmentBefore(start, finish, share))
    return;
  Index before, during, after;
  split(root, start, before, during);
  auto cut = [&](Index &left, Index &right, int64_t time) {
    if (left == 0)
      return;
    Index last = rightmost(left);
    if (nodes[last].start + nodes[last].length <= time)
      return;
    Node whole;
    popRightmost(left, whole);
    int64_t end = whole.start + whole.length;
    left = merge(left, newNode(whole.start, time - whole.start, whole.used));
    right = merge(newNode(time, end - time, whole.used), right);
  };
  cut(before, during, start);
  split(during, finish, during, after);
  cut(during, after, finish);
  addToAll(during, share);

  Node segment;
  auto forgetIfShort = [&](Node &node) {
    if (node.used == 0 && node.length < shortestUse)
      node.used = capacity;
  };
  if (before != 0) {
    popRightmost(before, segment);
    forgetIfShort(segment);
    before = append(before, segment);
  }
  popLeftmost(during, segment);
  before = merge(append(before, segment), during);
  popLeftmost(after, segment); // the endless last segment is always there
  forgetIfShort(segment);
  root = merge(append(before, segment), after);
}

} // namespace autopar::planning
