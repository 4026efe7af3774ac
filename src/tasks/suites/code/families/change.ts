import { type Family, mistake, version } from '../draft.ts'

const amount = [{ name: 'amount', type: 'int' }] as const

/** Coins for which a greedy choice is sometimes wrong. */
const coinSets = [
  [1, 3, 4],
  [1, 5, 8],
  [2, 5, 6],
  [1, 6, 10],
  [3, 5, 7],
  [1, 4, 9, 12],
  [2, 3, 7],
  [4, 6, 9],
  [1, 7, 10, 22],
  [5, 8, 11],
  [1, 8, 12],
  [3, 4, 10],
] as const

const coinCount: Family = {
  name: 'fewest-coins',
  levels: [3, 5],
  draft(random) {
    const coins = random.pick(coinSets).map((coin) => coin * random.pick([1, 1, 1, 2]))
    const build = (start: number) =>
      version<[number]>(
        `coins = {coins}
best = [{start}] + [None] * amount
for total in range(1, amount + 1):
    options = [best[total - c] for c in coins if c <= total and best[total - c] is not None]
    if options:
        best[total] = min(options) + 1
return -1 if best[amount] is None else best[amount]`,
        { coins: JSON.stringify(coins), start },
        (goal) => {
          let reached = new Set([0])
          for (let used = start; used <= goal + 1; used++) {
            if (reached.has(goal)) return used
            reached = new Set(
              [...reached].flatMap((sum) => coins.map((coin) => sum + coin).filter((sum) => sum <= goal)),
            )
          }
          return -1
        },
      )
    const descending = [...coins].sort((left, right) => right - left)
    const greedy = version<[number]>(
      `count = 0
for coin in {coins}:
    count += amount // coin
    amount %= coin
return count if amount == 0 else -1`,
      { coins: JSON.stringify(descending) },
      (goal) => {
        let [count, rest] = [0, goal]
        for (const coin of descending) {
          count += Math.floor(rest / coin)
          rest %= coin
        }
        return rest === 0 ? count : -1
      },
    )
    return {
      ...{ entry: 'fewest_coins', parameters: amount, returns: 'int' },
      spec: [
        `There are coins of the values ${coins.join(', ')}, as many of each as needed.`,
        'Return the smallest number of coins that add up to exactly amount, a non-negative integer; -1 if it cannot be done. The amount 0 needs 0 coins.',
      ],
      right: build(0),
      mistakes: [
        mistake('always takes the largest coin that fits', greedy),
        mistake('counts one coin too many', build(1)),
      ],
      input: (draw, size) => [draw.int(1, 10 + 9 * size)],
      edges: [[0], [1], [coins[0]! + coins[1]!], [2 * coins[1]!]],
      stages: ['fewest-coins'],
    }
  },
}

const waysToPay: Family = {
  name: 'ways-to-pay',
  levels: [3, 5],
  draft(random) {
    const coins = [...random.pick(coinSets)]
    const isOrdered = random.chance(0.4)
    const build = (inOrder: boolean, empty: number) =>
      version<[number]>(
        inOrder
          ? `ways = [{empty}] + [0] * amount
for total in range(1, amount + 1):
    for coin in {coins}:
        if coin <= total:
            ways[total] += ways[total - coin]
return ways[amount]`
          : `ways = [{empty}] + [0] * amount
for coin in {coins}:
    for total in range(coin, amount + 1):
        ways[total] += ways[total - coin]
return ways[amount]`,
        { coins: JSON.stringify(coins), empty },
        (goal) => {
          const memo = new Map<string, number>()
          const count = (rest: number, from: number): number => {
            if (rest === 0) return empty
            const key = `${rest} ${from}`
            const known = memo.get(key)
            if (known !== undefined) return known
            let ways = 0
            for (let index = inOrder ? 0 : from; index < coins.length; index++) {
              if (coins[index]! <= rest) ways += count(rest - coins[index]!, index)
            }
            memo.set(key, ways)
            return ways
          }
          return count(goal, 0)
        },
      )
    return {
      ...{ entry: 'ways_to_pay', parameters: amount, returns: 'int' },
      spec: [
        `There are coins of the values ${coins.join(', ')}, as many of each as needed.`,
        `Return the number of different ways to pay exactly amount, a non-negative integer. ${isOrdered ? 'The order in which coins are put down matters: 1 + 2 and 2 + 1 would be two ways.' : 'Only how many coins of each value are used matters, not their order.'} There is exactly one way to pay 0.`,
      ],
      right: build(isOrdered, 1),
      mistakes: [
        mistake(
          isOrdered ? 'does not look at the order' : 'counts different orders separately',
          build(!isOrdered, 1),
        ),
        mistake('finds no way to pay 0', build(isOrdered, 0)),
      ],
      input: (draw, size) => [draw.int(2, 8 + 4 * size)],
      edges: [[0], [1], [coins[0]! + coins[1]!]],
      stages: ['ways-to-pay'],
    }
  },
}

export const changeFamilies = [coinCount, waysToPay]
