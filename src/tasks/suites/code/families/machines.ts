import type { Random } from '../../../../base/random/index.ts'
import { type Family, mistake, version } from '../draft.ts'
import { word } from '../inputs.ts'

const stackMachine: Family = {
  name: 'stack-machine',
  levels: [3, 5],
  draft(random) {
    const [add, subtract, copy, swap] = random.pick([
      ['add', 'sub', 'dup', 'swap'],
      ['plus', 'minus', 'copy', 'flip'],
      ['sum', 'diff', 'twice', 'turn'],
    ] as const)
    const build = (isReversed: boolean, isStrict: boolean) =>
      version<[string[]]>(
        `stack = []
for line in program:
    parts = line.split()
    if parts[0] == 'push':
        stack.append(int(parts[1]))
    elif parts[0] == '{copy}':
        if stack:
            stack.append(stack[-1])
    elif len(stack) {compare} 2:
        b, a = stack.pop(), stack.pop()
        if parts[0] == '{add}':
            stack.append(a + b)
        elif parts[0] == '{subtract}':
            stack.append({difference})
        elif parts[0] == '{swap}':
            stack.extend([b, a])
return stack`,
        {
          add,
          subtract,
          copy,
          swap,
          compare: isStrict ? '>' : '>=',
          difference: isReversed ? 'b - a' : 'a - b',
        },
        (program) => {
          const stack: number[] = []
          for (const line of program) {
            const [name, value] = line.split(' ')
            if (name === 'push') stack.push(Number(value))
            else if (name === copy) stack.push(...stack.slice(-1))
            else if (stack.length >= (isStrict ? 3 : 2)) {
              const [a, b] = stack.splice(-2) as [number, number]
              if (name === add) stack.push(a + b)
              else if (name === subtract) stack.push(isReversed ? b - a : a - b)
              else stack.push(b, a)
            }
          }
          return stack
        },
      )
    const line = (draw: Random): string =>
      draw.chance(0.5) ? `push ${draw.int(-9, 20)}` : draw.pick([add, subtract, copy, swap])
    return {
      ...{ entry: 'run_stack', parameters: [{ name: 'program', type: 'strs' }], returns: 'ints' },
      spec: [
        `A machine has a stack of integers, empty at first. Each string of the program is one instruction: 'push N' puts the integer N on top; '${copy}' puts a copy of the top on top; '${add}' takes the top two off and puts their sum on top; '${subtract}' takes off the top b and then the next one a and puts a - b on top; '${swap}' exchanges the top two.`,
        'An instruction that needs more numbers than the stack holds does nothing. Return the stack at the end, from bottom to top.',
      ],
      right: build(false, false),
      mistakes: [
        mistake('subtracts the wrong way round', build(true, false)),
        mistake('asks for three numbers where two are enough', build(false, true)),
      ],
      input: (draw, size) => [Array.from({ length: size * 2 }, () => line(draw))],
      edges: [[[]], [[add, copy]], [['push 3', 'push 5', subtract]], [['push 4', copy, add, swap]]],
      stages: ['stack-machine'],
    }
  },
}

const registerMachine: Family = {
  name: 'register-machine',
  levels: [4, 5],
  draft(random) {
    const [up, down] = [random.int(1, 3), random.int(1, 3)]
    const limit = random.int(20, 60)
    const build = (most: number, offset: number) =>
      version<[string[]]>(
        `registers = {'a': 0, 'b': 0}
at = steps = 0
while 0 <= at < len(program) and steps < {most}:
    parts = program[at].split()
    steps += 1
    if parts[0] == 'inc':
        registers[parts[1]] += {up}
    elif parts[0] == 'dec':
        registers[parts[1]] -= {down}
    elif registers[parts[1]] != 0:
        at += int(parts[2]) - 1{offset}
    at += 1
return [registers['a'], registers['b']]`,
        { up, down, most, offset: offset === 0 ? '' : ` + ${offset}` },
        (program) => {
          let [a, b, at] = [0, 0, 0]
          for (let steps = 0; steps < most && program[at] !== undefined; steps++) {
            const [name, register, jump] = program[at]!.split(' ')
            const change = name === 'inc' ? up : name === 'dec' ? -down : 0
            if (register === 'a') a += change
            else b += change
            const isJump = name === 'jnz' && (register === 'a' ? a : b) !== 0
            at += isJump ? Number(jump) + offset : 1
          }
          return [a, b]
        },
      )
    const line = (draw: Random): string => {
      const register = draw.pick(['a', 'b'])
      return draw.chance(0.35)
        ? `jnz ${register} ${draw.pick([-3, -2, -1, 2, 3])}`
        : `${draw.pick(['inc', 'inc', 'dec'])} ${register}`
    }
    return {
      ...{ entry: 'run_registers', parameters: [{ name: 'program', type: 'strs' }], returns: 'ints' },
      spec: [
        `A machine has two registers, a and b, both 0 at first. Each string of the program is one instruction, executed from the first on: 'inc R' adds ${up} to register R and 'dec R' subtracts ${down} from it; 'jnz R N' jumps by N instructions, forward or (when N is negative) backward, counted from the jump itself, if register R is not 0, and otherwise does nothing.`,
        `The machine stops when it leaves the program at either end, or when ${limit} instructions have been executed (jumps count as well). Return the list [a, b].`,
      ],
      right: build(limit, 0),
      mistakes: [
        mistake('jumps one instruction too far', build(limit, 1)),
        mistake('stops one instruction too late', build(limit + 1, 0)),
      ],
      input: (draw, size) => [Array.from({ length: size + 1 }, () => line(draw))],
      edges: [[[]], [['inc a', 'jnz a -1']], [['inc b', 'jnz b 2', 'inc a', 'dec b']]],
      stages: ['register-machine'],
    }
  },
}

const stateMachine: Family = {
  name: 'state-machine',
  levels: [1, 4],
  draft(random) {
    const states = random.pick([
      ['idle', 'ready', 'busy'],
      ['red', 'amber', 'green'],
      ['closed', 'open', 'locked'],
      ['low', 'middle', 'high', 'top'],
    ])
    const letters = random.pick(['ab', 'xyz', 'pq', 'klm'])
    const rules = [...letters].flatMap((letter) =>
      states.filter(() => random.chance(0.75)).map((state) => [state, letter, random.pick(states)] as const),
    )
    const table = (list: typeof rules): string =>
      `{${list.map(([state, letter, next]) => `('${state}', '${letter}'): '${next}'`).join(', ')}}`
    const counted = random.pick(states)
    const isCount = random.chance(0.4)
    const build = (list: typeof rules, atStart: boolean, unknown: 'stay' | 'reset') =>
      version<[string]>(
        `rules = {table}
state = '{first}'
visits = {start}
for letter in signals:
    state = rules.get((state, letter), {unknown})
    if state == '{counted}':
        visits += 1
return {result}`,
        {
          ...{ table: table(list), first: states[0]!, counted, result: isCount ? 'visits' : 'state' },
          ...{
            start: atStart && counted === states[0] ? 1 : 0,
            unknown: unknown === 'stay' ? 'state' : `'${states[0]}'`,
          },
        },
        (signals) => {
          const trail = [states[0]!]
          for (const signal of signals) {
            const state = trail.at(-1)!
            const rule = list.find(([from, letter]) => from === state && letter === signal)
            trail.push(rule?.[2] ?? (unknown === 'stay' ? state : states[0]!))
          }
          return isCount
            ? (atStart ? trail : trail.slice(1)).filter((state) => state === counted).length
            : trail.at(-1)!
        },
      )
    const listed = rules
      .map(([state, letter, next]) => `in '${state}', '${letter}' leads to '${next}'`)
      .join('; ')
    return {
      entry: isCount ? 'count_visits' : 'final_state',
      ...{ parameters: [{ name: 'signals', type: 'str' }], returns: isCount ? 'int' : 'str' },
      spec: [
        `A device starts in the state '${states[0]}' and reads a string of signals, one character after another. These are its rules: ${listed || 'none'}. With any other combination of state and character it stays in its state.`,
        isCount
          ? `Return how many times the device is in the state '${counted}', counting once at the start (if it starts there) and once after every character (also when it just stays there).`
          : 'Return the name of the state it is in at the end.',
      ],
      right: build(rules, true, 'stay'),
      mistakes: [
        mistake('goes back to the first state when there is no rule', build(rules, true, 'reset')),
        mistake('forgets the last rule', build(rules.slice(0, -1), true, 'stay')),
        mistake('does not count the start', build(rules, false, 'stay')),
      ],
      input: (draw, size) => [word(draw, size * 2, `${letters}${letters}w`)],
      edges: [[''], [letters], [`${letters[1]}${letters[0]}w`], ['www']],
      stages: ['state-machine'],
    }
  },
}

const checkout: Family = {
  name: 'checkout',
  levels: [3, 5],
  draft(random) {
    const desks = random.int(2, 4)
    const pause = random.int(0, 3)
    const build = (isFair: boolean, rest: number) =>
      version<[number[]]>(
        `free = [0] * {desks}
done = []
for i, minutes in enumerate(durations):
    desk = {choice}
    end = free[desk] + minutes
    done.append(end)
    free[desk] = end + {rest}
return done`,
        { desks, rest, choice: isFair ? 'free.index(min(free))' : 'i % len(free)' },
        (durations) => {
          const free = new Array<number>(desks).fill(0)
          return durations.map((minutes, index) => {
            const desk = isFair
              ? free.reduce((best, time, at) => (time < free[best]! ? at : best), 0)
              : index % desks
            const end = free[desk]! + minutes
            free[desk] = end + rest
            return end
          })
        },
      )
    return {
      ...{ entry: 'finish_times', parameters: [{ name: 'durations', type: 'ints' }], returns: 'ints' },
      spec: [
        `Customers wait in one line in front of ${desks} desks, all free at minute 0. The next customer always goes to the desk that becomes free first (of several, to the one with the lowest number), and is served there for as many minutes as the list durations says, in the order of the list.`,
        `${pause === 0 ? 'A desk is free again as soon as a customer is done.' : `After each customer the desk needs ${pause} ${pause === 1 ? 'minute' : 'minutes'} before it is free again.`} Return the list of the minutes at which the customers are done, in the order of the line.`,
      ],
      right: build(true, pause),
      mistakes: [
        mistake('sends customers to the desks in turns', build(false, pause)),
        mistake('gets the pause wrong by a minute', build(true, pause + 1)),
      ],
      input: (draw, size) => [Array.from({ length: size * 2 }, () => draw.int(1, 15))],
      edges: [[[]], [[5]], [[9, 1, 1, 1, 1, 1]]],
      stages: ['checkout'],
    }
  },
}

const ledger: Family = {
  name: 'ledger',
  levels: [2, 4],
  draft(random) {
    const [limit, fee] = [random.int(0, 5) * 10, random.int(0, 3)]
    const [put, take] = random.pick([
      ['deposit', 'withdraw'],
      ['in', 'out'],
      ['add', 'spend'],
    ] as const)
    const build = (isStrict: boolean, always: boolean) =>
      version<[string[]]>(
        `balance = refused = 0
for line in log:
    kind, amount = line.split()
    amount = int(amount)
    if kind == '{put}':
        balance += amount
    elif balance - amount - {fee} {compare} -{limit}:
        balance -= amount + {fee}
    else:
        refused += 1{penalty}
return [balance, refused]`,
        {
          put,
          fee,
          limit,
          compare: isStrict ? '>' : '>=',
          penalty: always ? `\n        balance -= ${fee + 1}` : '',
        },
        (log) => {
          let [balance, refused] = [0, 0]
          for (const entry of log) {
            const amount = Number(entry.split(' ')[1])
            const after = balance - amount - fee
            if (entry.startsWith(put)) balance += amount
            else if (isStrict ? after > -limit : after >= -limit) balance = after
            else {
              refused++
              if (always) balance -= fee + 1
            }
          }
          return [balance, refused]
        },
      )
    return {
      ...{ entry: 'run_ledger', parameters: [{ name: 'log', type: 'strs' }], returns: 'ints' },
      spec: [
        `An account starts at 0. Each string of the log is '${put} N' or '${take} N' with a positive integer N. '${put}' adds N. '${take}' subtracts N${fee === 0 ? '' : ` and a fee of ${fee}`}, but only if the balance is at least ${limit === 0 ? '0' : `-${limit}`} afterwards; otherwise it is refused and nothing changes.`,
        'Return the list [balance, refused] with the balance at the end and the number of refused entries.',
      ],
      right: build(false, false),
      mistakes: [
        mistake('refuses to go exactly to the limit', build(true, false)),
        mistake('charges for refused entries', build(false, true)),
      ],
      input: (draw, size) => [
        Array.from({ length: size * 2 }, () => `${draw.chance(0.45) ? put : take} ${draw.int(1, 60)}`),
      ],
      edges: [
        [[]],
        [[`${take} ${limit + 1}`]],
        [[`${put} ${fee + 7}`, `${take} ${limit + 7}`]],
        [[`${put} 9`]],
      ],
      stages: ['ledger'],
    }
  },
}

const automaton: Family = {
  name: 'cell-row',
  levels: [3, 5],
  draft(random) {
    const rule = random.int(1, 254)
    const steps = random.int(1, 4)
    const wraps = random.chance(0.5)
    const build = (rounds: number, ring: boolean) =>
      version<[string]>(
        `for _ in range({rounds}):
    padded = {padded}
    cells = ''.join('#' if {rule} >> int(padded[i:i + 3].replace('#', '1').replace('.', '0'), 2) & 1 else '.' for i in range(len(cells)))
return cells`,
        { rounds, rule, padded: ring ? 'cells[-1:] + cells + cells[:1]' : "'.' + cells + '.'" },
        (cells) => {
          let row = [...cells].map((cell) => (cell === '#' ? 1 : 0)) as number[]
          for (let round = 0; round < rounds; round++) {
            row = row.map((cell, index) => {
              const left = row[index - 1] ?? (ring ? row.at(-1)! : 0)
              const right = row[index + 1] ?? (ring ? row[0]! : 0)
              return (rule >> (left * 4 + cell * 2 + right)) & 1
            })
          }
          return row.map((cell) => (cell === 1 ? '#' : '.')).join('')
        },
      )
    const table = Array.from({ length: 8 }, (_, index) => index)
      .filter((index) => (rule >> index) & 1)
      .map((index) => `'${index.toString(2).padStart(3, '0').replaceAll('1', '#').replaceAll('0', '.')}'`)
    return {
      ...{ entry: 'evolve', parameters: [{ name: 'cells', type: 'str' }], returns: 'str' },
      spec: [
        `The string cells is a row of cells, '#' (on) or '.' (off). In one round all cells change at once: a cell is on afterwards exactly if its left neighbour, itself and its right neighbour, read as three characters, were one of ${table.join(', ')} before.`,
        wraps
          ? 'The row is a ring: the first and the last cell are neighbours (a single cell is its own neighbour on both sides).'
          : 'Beyond both ends of the row all cells are off.',
        `Return the row after ${steps} ${steps === 1 ? 'round' : 'rounds'}.`,
      ],
      right: build(steps, wraps),
      mistakes: [
        mistake('does one round too many', build(steps + 1, wraps)),
        mistake('treats the ends of the row the wrong way', build(steps, !wraps)),
      ],
      input: (draw, size) => [word(draw, size * 2, '#.')],
      edges: [[''], ['#'], ['#..'], ['.##.#']],
      stages: ['cell-row'],
    }
  },
}

export const machineFamilies = [stackMachine, registerMachine, stateMachine, checkout, ledger, automaton]
