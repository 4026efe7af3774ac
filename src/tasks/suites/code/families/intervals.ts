import type { Random } from '../../../../base/random/index.ts'
import { type Family, mistake, version } from '../draft.ts'

type Interval = [number, number]

const intervals = [{ name: 'intervals', type: 'pairs' }] as const

const drawIntervals = (draw: Random, count: number): Interval[] =>
  Array.from({ length: count }, () => {
    const start = draw.int(0, 40)
    return [start, start + draw.int(1, 12)]
  })

const ordered = (list: readonly Interval[]): Interval[] =>
  [...list].sort((left, right) => left[0] - right[0] || left[1] - right[1])

const merge: Family = {
  name: 'merge-intervals',
  levels: [2, 5],
  draft(random) {
    const gap = random.int(0, 4)
    const build = (reach: number, isSorted: boolean, keepsLonger: boolean) =>
      version<[Interval[]]>(
        `merged = []
for start, end in {list}:
    if merged and start <= merged[-1][1] + {reach}:
        merged[-1][1] = {end}
    else:
        merged.append([start, end])
return merged`,
        {
          ...{ reach, list: isSorted ? 'sorted(intervals)' : 'intervals' },
          end: keepsLonger ? 'max(merged[-1][1], end)' : 'end',
        },
        (list) => {
          const merged: Interval[] = []
          for (const [start, end] of isSorted ? ordered(list) : list) {
            const last = merged.at(-1)
            if (last === undefined || start > last[1] + reach) merged.push([start, end])
            else last[1] = keepsLonger ? Math.max(last[1], end) : end
          }
          return merged
        },
      )
    return {
      ...{ entry: 'merge', parameters: intervals, returns: 'pairs' },
      spec: [
        `Each interval is a pair [start, end] with start < end. Two intervals belong together when they overlap, touch, or ${gap === 0 ? 'share an end point' : `are at most ${gap} apart (the later start minus the earlier end)`}; intervals that are connected through others also belong together.`,
        'Join all intervals that belong together into one, from the smallest start to the largest end, and return the joined intervals, sorted by start.',
      ],
      right: build(gap, true, true),
      mistakes: [
        mistake('takes the end of the later interval even if it is smaller', build(gap, true, false)),
        mistake('does not sort first', build(gap, false, true)),
        mistake('is too strict about the distance', build(gap - 1, true, true)),
      ],
      input: (draw, size) => [drawIntervals(draw, size)],
      edges: [
        [[]],
        [[[3, 5]]],
        [
          [
            [1, 20],
            [2, 4],
          ],
        ],
        [
          [
            [8, 9],
            [1, 8 - gap],
          ],
        ],
      ],
      stages: ['merge-intervals'],
    }
  },
}

const overlap: Family = {
  name: 'most-at-once',
  levels: [3, 5],
  draft(random) {
    const isClosed = random.chance(0.5)
    const build = (closed: boolean) =>
      version<[Interval[]]>(
        `events = []
for start, end in intervals:
    events.append((start, {first}))
    events.append((end, {second}))
events.sort()
now = most = 0
for _, kind in events:
    now += 1 if kind == {first} else -1
    most = max(most, now)
return most`,
        { first: closed ? 0 : 1, second: closed ? 1 : 0 },
        (list) =>
          Math.max(
            0,
            ...list.map(
              ([point]) =>
                list.filter(([start, end]) => start <= point && (closed ? point <= end : point < end)).length,
            ),
          ),
      )
    const neighbours = version<[Interval[]]>(
      `count = 1 if intervals else 0
ordered = sorted(intervals)
for left, right in zip(ordered, ordered[1:]):
    if right[0] < left[1]:
        count += 1
return count`,
      {},
      (list) => {
        const sorted = ordered(list)
        const clashes = sorted.filter((right, index) => index > 0 && right[0] < sorted[index - 1]![1])
        return list.length === 0 ? 0 : 1 + clashes.length
      },
    )
    return {
      ...{ entry: 'most_at_once', parameters: intervals, returns: 'int' },
      spec: [
        `Each pair [start, end] with start < end is a guest who is present from start to end. ${isClosed ? 'At the moment end the guest is still there, so a guest who comes at that moment meets the one who leaves.' : 'At the moment end the guest has already left.'}`,
        'Return the largest number of guests who are present at the same moment (0 for no guests).',
      ],
      right: build(isClosed),
      mistakes: [
        mistake('treats the moment of leaving the wrong way', build(!isClosed)),
        mistake('only counts clashes of neighbours', neighbours),
      ],
      input: (draw, size) => [drawIntervals(draw, size + 1)],
      edges: [
        [[]],
        [[[1, 2]]],
        [
          [
            [1, 5],
            [5, 8],
          ],
        ],
        [
          [
            [1, 9],
            [2, 3],
            [4, 5],
            [6, 7],
          ],
        ],
      ],
      stages: ['most-at-once'],
    }
  },
}

const freeTime: Family = {
  name: 'free-gaps',
  levels: [3, 5],
  draft(random) {
    const [least, horizon] = [random.int(1, 5), random.int(50, 70)]
    const build = (minimum: number, tail: boolean) =>
      version<[Interval[]]>(
        `free = []
at = 0
for start, end in sorted(intervals):
    if start - at >= {minimum}:
        free.append([at, start])
    at = max(at, end)
{tail}return free`,
        {
          minimum,
          tail: tail ? `if ${horizon} - at >= ${minimum}:\n    free.append([at, ${horizon}])\n` : '',
        },
        (list) => {
          const busy = Array.from({ length: horizon }, (_, minute) =>
            list.some(([start, end]) => start <= minute && minute < end),
          )
          const free: Interval[] = []
          for (let from = 0; from < horizon; ) {
            let to = from
            while (to < horizon && !busy[to]) to++
            if (to - from >= Math.max(1, minimum) && (tail || to < horizon)) free.push([from, to])
            from = Math.max(to, from + 1)
          }
          return free
        },
      )
    return {
      ...{ entry: 'free_gaps', parameters: intervals, returns: 'pairs' },
      spec: [
        `A day runs from minute 0 to minute ${horizon}. Each pair [start, end] with 0 <= start < end <= ${horizon} is a meeting that keeps the minutes from start up to, but not including, end busy; meetings can overlap and come in any order.`,
        `Return the free stretches of at least ${least} ${least === 1 ? 'minute' : 'minutes'} as pairs [start, end], as long as possible each, in order.`,
      ],
      right: build(least, true),
      mistakes: [
        mistake('forgets the time after the last meeting', build(least, false)),
        mistake('asks for one minute more', build(least + 1, true)),
      ],
      input: (draw, size) => [
        drawIntervals(draw, size).map(([start, end]) => [start, Math.min(end, horizon)]),
      ],
      edges: [
        [[]],
        [[[0, horizon]]],
        [[[least, horizon - least]]],
        [
          [
            [10, 20],
            [20, 30],
          ],
        ],
      ],
      stages: ['free-gaps'],
    }
  },
}

export const intervalFamilies = [merge, overlap, freeTime]
