import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { GroupMember, GroupView, RolloutView } from '../../src/studio/api.ts'
import { get } from '../data/client.ts'
import { useGet } from '../data/queries.ts'
import { go, setQuery, to, useParam } from '../data/url.ts'
import { OutcomeBadge, stopWords } from '../parts/badges.tsx'
import { plural, short, signed, visible, whole } from '../parts/format.ts'
import { hueOf } from '../parts/hues.ts'
import { useKeys } from '../parts/keys.tsx'
import { Link } from '../parts/link.tsx'
import { PrefixTree } from '../parts/prefix-tree.tsx'
import { Loaded, Loading, Screen, Written } from '../parts/screen.tsx'
import { agentName } from '../parts/spans.tsx'

/** The rollouts of one task in one step, and where they diverge. */
export function GroupScreen({ run, id }: { run: string; id: string }): ReactNode {
  const found = useGet('/api/runs/:run/groups/:id', { run, id })
  return (
    <Screen
      title="Group"
      over={
        <Link parts={['runs', run, 'groups']} query={{ step: found.data?.row.step }}>
          RL groups{found.data?.row.step === undefined ? '' : `, step ${found.data.row.step}`}
        </Link>
      }
      about={<code>{id}</code>}
    >
      <Loaded of={found}>{(group) => <Group run={run} group={group} />}</Loaded>
    </Screen>
  )
}

function Group({ run, group }: { run: string; group: GroupView }): ReactNode {
  const { row, rollouts, common, tree, task } = group
  const [chosen] = useParam('with')
  const one = rollouts.find((member) => member.id === chosen)
  const at = rollouts.findIndex((member) => member.id === chosen)
  const move = (by: number) => () => {
    const next = rollouts[Math.max(0, Math.min(rollouts.length - 1, at + by))]
    if (next !== undefined) setQuery({ with: next.id })
  }
  useKeys({
    j: move(1),
    k: move(-1),
    ...(one === undefined ? {} : { o: () => go(to(['runs', run, 'rollouts', one.id])) }),
  })
  return (
    <>
      <Written className="question" text={task?.question ?? row.question} />
      <p>
        {row.correct} of {plural(row.rollouts, 'rollout')} correct, mean reward {short(row.meanReward)}
        {row.spread === 0 ? '; all rewards are equal, so that nothing can be learned from this group' : ''}.{' '}
        {common !== undefined && `All begin with the same ${plural(common, 'token')}.`}
        {task !== undefined && (
          <>
            {' '}
            <Link parts={['runs', run, 'tasks', task.id]}>Task</Link>
          </>
        )}
      </p>
      {tree !== undefined && (
        <section aria-labelledby="tree">
          <h2 id="tree">Where they diverge</h2>
          <PrefixTree
            tree={tree}
            members={rollouts}
            chosen={chosen}
            choose={(next) => setQuery({ with: next })}
          />
        </section>
      )}
      <h2>Rollouts</h2>
      <Members run={run} rollouts={rollouts} chosen={chosen} />
      <h2>After the common beginning</h2>
      <Divergences run={run} group={group} chosen={one} />
    </>
  )
}

interface MembersProps {
  run: string
  rollouts: readonly GroupMember[]
  chosen: string | undefined
}

function Members({ run, rollouts, chosen }: MembersProps): ReactNode {
  const numbers = new Map(rollouts.map(({ id }, index) => [id, index + 1]))
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Rollouts of the group">
      <table>
        <thead>
          <tr>
            <th scope="col">rollout</th>
            <th scope="col">outcome</th>
            <th scope="col">answer</th>
            <th scope="col">reward</th>
            <th scope="col">advantage</th>
            <th scope="col">stop</th>
            <th scope="col">tokens</th>
            <th scope="col">calls</th>
            <th scope="col">diverges at token</th>
          </tr>
        </thead>
        <tbody>
          {rollouts.map((member) => (
            <tr key={member.id} className={member.id === chosen ? 'selected' : undefined}>
              <th scope="row">
                <Link parts={['runs', run, 'rollouts', member.id]}>rollout {numbers.get(member.id)}</Link>
              </th>
              <td>
                <OutcomeBadge outcome={member.outcome} />
              </td>
              <td className="text">
                <bdi>{visible(member.answer ?? '–')}</bdi>
              </td>
              <td className="number">{short(member.reward)}</td>
              <td className="number">{member.advantage === undefined ? '–' : signed(member.advantage)}</td>
              <td>
                {stopWords[member.stop]}
                {member.wellFormed ? '' : ', not well formed'}
              </td>
              <td className="number">{whole(member.tokens)}</td>
              <td className="number">{member.calls}</td>
              <td className="number">
                {member.diverges === undefined ? (
                  '–'
                ) : (
                  <button type="button" className="link" onClick={() => setQuery({ with: member.id })}>
                    {whole(member.diverges.token)}
                    <small> from rollout {numbers.get(member.diverges.from) ?? '?'}</small>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const MOST = 8

/** The texts from the place where they diverge, next to each other. */
function Divergences({
  run,
  group,
  chosen,
}: {
  run: string
  group: GroupView
  chosen: GroupMember | undefined
}): ReactNode {
  const pair =
    chosen?.diverges === undefined
      ? group.rollouts.slice(0, MOST)
      : group.rollouts.filter(({ id }) => id === chosen.id || id === chosen.diverges!.from)
  const found = useQueries({
    queries: pair.map(({ id }) => ({
      queryKey: ['/api/runs/:run/rollouts/:id', { run, id }, {}],
      queryFn: () => get('/api/runs/:run/rollouts/:id', { run, id }),
    })),
  })
  const views = found.flatMap(({ data }) => (data === undefined ? [] : [data]))
  if (views.length < pair.length) return <Loading />
  const shared = sharedText(views)
  return (
    <>
      <p className="note">
        {chosen?.diverges === undefined
          ? `${views.length < group.rollouts.length ? `The first ${views.length}. ` : ''}Choose a rollout in the tree or the table to compare it with the one it diverges from last.`
          : 'The chosen rollout and the one with which it has most in common.'}{' '}
        {shared > 0 ? 'What they share is gray, cut to its end.' : ''}
      </p>
      <div className="beside">
        {views.map((view) => (
          <Divergence
            key={view.row.id}
            run={run}
            view={view}
            shared={shared}
            number={group.rollouts.findIndex(({ id }) => id === view.rollout.id) + 1}
          />
        ))}
      </div>
    </>
  )
}

const BEFORE = 160

interface DivergenceProps {
  run: string
  view: RolloutView
  shared: number
  number: number
}

function Divergence({ run, view, shared, number }: DivergenceProps): ReactNode {
  const { rollout } = view
  let at = 0
  return (
    <article>
      <h3>
        <Link parts={['runs', run, 'rollouts', rollout.id]}>rollout {number}</Link>{' '}
        <OutcomeBadge outcome={rollout.outcome} />
      </h3>
      <p className="note">
        reward {short(rollout.reward)}
        {rollout.advantage === undefined ? '' : `, advantage ${signed(rollout.advantage)}`}
      </p>
      <div className="parted" tabIndex={0} role="region" aria-label={`Text of rollout ${number}`}>
        {view.spans.map((span) => {
          const start = at
          at += span.text.length
          if (at <= shared - BEFORE) return null
          const same = Math.max(0, Math.min(span.text.length, shared - start))
          const skip = Math.max(0, Math.min(span.text.length, shared - BEFORE - start))
          return (
            <div key={span.index} className={span.trained ? hueOf(span.agent) : 'inserted'}>
              <span className={`agent ${span.trained ? hueOf(span.agent) : ''}`}>
                {agentName(span.agent)}
              </span>
              <p>
                <span className="same">
                  {skip > 0 ? '… ' : ''}
                  {visible(span.text.slice(skip, same))}
                </span>
                {same < span.text.length && start <= shared && same + start === shared && shared > 0 && (
                  <b className="here" title="here they diverge">
                    ⑂
                  </b>
                )}
                {visible(span.text.slice(same))}
              </p>
            </div>
          )
        })}
      </div>
    </article>
  )
}

/** Characters that all begin with. Tokens may agree a little less far. */
function sharedText(views: readonly RolloutView[]): number {
  const texts = views.map(({ spans }) => spans.map(({ text }) => text).join(''))
  const [first = '', ...others] = texts
  if (others.length === 0) return 0
  let at = 0
  while (at < first.length && others.every((other) => other[at] === first[at])) at++
  return at
}
