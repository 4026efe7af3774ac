import { type Family, mistake, modulo, version } from '../draft.ts'
import { ints } from '../inputs.ts'

const values = [{ name: 'values', type: 'ints' }] as const

const longestRun: Family = {
  name: 'longest-run',
  levels: [2, 4],
  draft(random) {
    const isClose = random.chance(0.5)
    const limit = random.int(isClose ? 2 : 1, 9)
    const build = (bound: number, checksEnd: boolean) =>
      version<[number[]]>(
        `best = run = 0
for i, value in enumerate(values):
    if i > 0 and {test}:
        run += 1
    else:
        {close}run = 1
{end}`,
        {
          test: isClose ? `abs(value - values[i - 1]) <= ${bound}` : `value - values[i - 1] >= ${bound}`,
          close: 'best = max(best, run)\n        ',
          end: checksEnd ? 'return max(best, run)' : 'return best',
        },
        (list) => {
          const runs: number[] = []
          list.forEach((value, index) => {
            const step = index === 0 ? Number.NaN : value - list[index - 1]!
            const goesOn = isClose ? Math.abs(step) <= bound : step >= bound
            if (goesOn) runs[runs.length - 1]!++
            else runs.push(1)
          })
          return Math.max(0, ...(checksEnd ? runs : runs.slice(0, -1)))
        },
      )
    return {
      ...{ entry: 'longest_run', parameters: values, returns: 'int' },
      spec: [
        `A run is a stretch of neighbouring list elements in which every element after the first ${isClose ? `differs from the one before it by at most ${limit}` : `is greater than the one before it by at least ${limit}`}.`,
        'Return the length of the longest run. A single element is a run of length 1; the empty list gives 0.',
      ],
      right: build(limit, true),
      mistakes: [
        mistake('forgets the run at the end of the list', build(limit, false)),
        mistake('is off by one in the limit', build(limit + 1, true)),
      ],
      input(draw, size) {
        const list: number[] = []
        let last = draw.int(-20, 20)
        for (let count = 0; count < size * 2; count++) {
          last += draw.chance(0.7) ? draw.int(isClose ? -limit : 1, limit + 1) : draw.int(-20, 20)
          list.push(last)
        }
        return [list]
      },
      edges: [[[]], [[7]], [[1, 1 + limit, 1 + 2 * limit]]],
      stages: ['longest-run'],
    }
  },
}

const windows: Family = {
  name: 'windows',
  levels: [2, 5],
  draft(random) {
    const [size, step] = [random.int(2, 5), random.int(1, 3)]
    const what = random.pick(['sum', 'max', 'min'] as const)
    const build = (last: 0 | 1, partial: boolean) =>
      version<[number[]]>(
        'return [{what}(values[i:i + {size}]) for i in range(0, len(values){end}, {step})]',
        {
          ...{ what, size, step, end: partial ? '' : last === 1 ? ` - ${size} + 1` : ` - ${size}` },
        },
        (list) => {
          const results: number[] = []
          for (let from = 0; from < list.length; from += step) {
            const window = list.slice(from, from + size)
            if (!partial && from + size > list.length - 1 + last) continue
            results.push(
              what === 'sum' ? window.reduce((sum, value) => sum + value, 0) : Math[what](...window),
            )
          }
          return results
        },
      )
    const meaning = { sum: 'sum', max: 'largest element', min: 'smallest element' }[what]
    return {
      ...{ entry: 'windows', parameters: values, returns: 'ints' },
      spec: [
        `A window is a stretch of exactly ${size} neighbouring elements. The first window starts at the first element, and each following window starts ${step === 1 ? 'one element' : `${step} elements`} later.`,
        `Return the list with the ${meaning} of each window, in order. Windows that would reach beyond the end of the list do not count; a list that is too short gives the empty list.`,
      ],
      right: build(1, false),
      mistakes: [
        mistake('leaves out a window that ends at the last element', build(0, false)),
        mistake('also counts windows that are cut off at the end', build(1, true)),
      ],
      input: (draw, amount) => [ints(draw, draw.int(amount, amount + size), -30, 60)],
      edges: [[[]], [[4]], [Array.from({ length: size }, (_, index) => index + 1)]],
      stages: ['windows'],
    }
  },
}

const pairCount: Family = {
  name: 'pair-count',
  levels: [2, 4],
  draft(random) {
    const divisor = random.int(3, 9)
    const rest = random.int(0, divisor - 1)
    const build = (from: 0 | 1, all: boolean) =>
      version<[number[]]>(
        `count = 0
for i in range(len(values)):
    for j in range({start}, len(values)):
        if {guard}(values[i] + values[j]) % {divisor} == {rest}:
            count += 1
return count`,
        { divisor, rest, start: all ? '0' : from === 1 ? 'i + 1' : 'i', guard: all ? 'i != j and ' : '' },
        (list) =>
          list.reduce((count, left, i) => {
            const others = all ? list.filter((_, j) => j !== i) : list.slice(i + from)
            return count + others.filter((right) => modulo(left + right, divisor) === rest).length
          }, 0),
      )
    return {
      ...{ entry: 'count_pairs', parameters: values, returns: 'int' },
      spec: [
        `Return the number of pairs of positions i < j in the list for which values[i] + values[j] leaves remainder ${rest} when divided by ${divisor}.`,
        'Elements can be negative; the remainder is always from 0 up, as with the operator % in Python.',
      ],
      right: build(1, false),
      mistakes: [
        mistake('pairs an element with itself', build(0, false)),
        mistake('counts every pair twice', build(1, true)),
      ],
      input: (draw, size) => [ints(draw, size + 1, -20, 40)],
      edges: [[[]], [[rest]], [[rest, 0]], [[divisor, divisor, rest, -divisor]]],
      stages: ['pair-count'],
    }
  },
}

const spacedSum: Family = {
  name: 'spaced-sum',
  levels: [3, 5],
  draft(random) {
    const gap = random.int(1, 3)
    const build = (distance: number) =>
      version<[number[]]>(
        `best = [0] * (len(values) + 1)
for i, value in enumerate(values):
    before = best[i - {gap}] if i >= {gap} else 0
    best[i + 1] = max(best[i], before + value)
return best[-1]`,
        { gap: distance },
        (list) => {
          const memo = new Map<number, number>()
          const from = (index: number): number => {
            if (index >= list.length) return 0
            const known = memo.get(index)
            if (known !== undefined) return known
            const best = Math.max(from(index + 1), list[index]! + from(index + distance + 1))
            memo.set(index, best)
            return best
          }
          return from(0)
        },
      )
    const greedy = version<[number[]]>(
      `best = 0
for start in range({gap} + 1):
    best = max(best, sum(value for value in values[start::{gap} + 1] if value > 0))
return best`,
      { gap },
      (list) =>
        Math.max(
          ...Array.from({ length: gap + 1 }, (_, start) =>
            list.reduce(
              (sum, value, index) => (index % (gap + 1) === start && value > 0 ? sum + value : sum),
              0,
            ),
          ),
        ),
    )
    return {
      ...{ entry: 'best_sum', parameters: values, returns: 'int' },
      spec: [
        `Choose any elements of the list, possibly none, so that between two chosen elements there are always at least ${gap} elements that are not chosen.`,
        'Return the largest sum that can be reached. Choosing nothing gives 0.',
      ],
      right: build(gap),
      mistakes: [
        mistake('leaves too large a gap', build(gap + 1)),
        mistake('only tries choices at equal distances', greedy),
      ],
      input: (draw, size) => [ints(draw, size + 2, -15, 40)],
      edges: [[[]], [[-5]], [[-3, -1]], [[5, 1, 1, 9, 1, 1, 4, 8]]],
      stages: ['spaced-sum'],
    }
  },
}

const circle: Family = {
  name: 'circle',
  levels: [2, 5],
  draft(random) {
    const step = random.int(2, 7)
    const isLeft = random.chance(0.4)
    const build = (count: number, survivors: boolean) =>
      version<[number[]]>(
        `circle = list(values)
out = []
at = 0
while len(circle) > {stay}:
    at = (at + {count} - 1) % len(circle)
    out.append(circle.pop(at))
return {what}`,
        { count, stay: survivors ? 1 : 0, what: survivors ? 'out' : 'out' },
        (list) => {
          let queue = [...list]
          const out: number[] = []
          while (queue.length > (survivors ? 1 : 0)) {
            const turn = (count - 1) % queue.length
            queue = [...queue.slice(turn), ...queue.slice(0, turn)]
            out.push(queue.shift()!)
          }
          return out
        },
      )
    return {
      ...{ entry: 'removal_order', parameters: values, returns: 'ints' },
      spec: [
        `The elements of the list stand in a circle. Counting starts at the first element with 1; the element that gets number ${step} is removed, and counting starts again with 1 at the element after it. This is repeated ${isLeft ? 'until only one element is left' : 'until the circle is empty'}.`,
        `Return the removed elements in the order in which they are removed${isLeft ? '; with fewer than two elements nothing is removed' : ''}.`,
      ],
      right: build(step, isLeft),
      mistakes: [
        mistake('counts one too far', build(step + 1, isLeft)),
        mistake(
          isLeft ? 'also removes the last element' : 'leaves the last element in the circle',
          build(step, !isLeft),
        ),
      ],
      input: (draw, size) => [ints(draw, size + 1, 1, 99)],
      edges: [[[]], [[5]], [[1, 2, 3, 4, 5, 6, 7]]],
      stages: ['circle'],
    }
  },
}

export const listFamilies = [longestRun, windows, pairCount, spacedSum, circle]
