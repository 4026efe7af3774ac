import type { ReactNode } from 'react'
import type { RolloutView } from '../../src/studio/api.ts'
import { useGet } from '../data/queries.ts'
import { questionOf } from '../data/question.ts'
import { go, to } from '../data/url.ts'
import { MarkBadge, OutcomeBadge, stopWords } from '../parts/badges.tsx'
import { ChainBody, useTokenView } from '../parts/chain-parts.tsx'
import { duration, short, signed, visible, whole } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { Link } from '../parts/link.tsx'
import { MarkForm } from '../parts/mark-form.tsx'
import { Facts, Loaded, Screen, Written } from '../parts/screen.tsx'
import { CHUNK } from '../parts/tokens.tsx'

interface RolloutScreenProps {
  run: string
  id: string
  canAct: boolean
}

export function RolloutScreen({ run, id, canAct }: RolloutScreenProps): ReactNode {
  const found = useGet('/api/runs/:run/rollouts/:id', { run, id })
  const { isOn, from } = useTokenView()
  const tokens = useGet(
    '/api/runs/:run/rollouts/:id/tokens',
    { run, id },
    { from, count: CHUNK },
    { enabled: isOn, keep: true },
  )
  const { data } = found
  const query = location.hash.includes('view=tokens') ? { view: 'tokens' } : {}
  const sibling = (other: string | undefined) =>
    other === undefined ? undefined : () => go(to(['runs', run, 'rollouts', other], query))
  useKeys({ '[': sibling(data?.siblings.previous), ']': sibling(data?.siblings.next) })
  return (
    <Screen
      title="Rollout"
      over={
        data && (
          <>
            <Link parts={['runs', run, 'groups', data.rollout.groupId]}>
              Group{data.rollout.step === undefined ? '' : `, step ${data.rollout.step}`}
            </Link>
            {data.siblings.previous !== undefined && (
              <Link parts={['runs', run, 'rollouts', data.siblings.previous]} query={query}>
                ← previous
              </Link>
            )}
            {data.siblings.next !== undefined && (
              <Link parts={['runs', run, 'rollouts', data.siblings.next]} query={query}>
                next →
              </Link>
            )}
          </>
        )
      }
      beside={
        data && (
          <>
            <OutcomeBadge outcome={data.rollout.outcome} />
            <MarkBadge mark={data.rollout.mark} />
          </>
        )
      }
      about={<code>{id}</code>}
    >
      <Loaded of={found}>
        {(view) => (
          <>
            <Written className="question" text={questionOf(view)} />
            <Facts facts={factsOf(run, view)} />
            {view.failure !== undefined && (
              <p className="bad">
                ✗ {view.failure.boundary}: {visible(view.failure.message)}. It is left out of training.
              </p>
            )}
            {canAct && (
              <MarkForm
                key={view.rollout.mark?.at ?? ''}
                run={run}
                kind="rollout"
                id={id}
                mark={view.rollout.mark}
              />
            )}
            <Calls view={view} />
            <ChainBody view={view} tokens={tokens} />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

function factsOf(run: string, { rollout, verdict, tokenCounts, ms, seed }: RolloutView) {
  return [
    ['answer', rollout.answer && <bdi key="answer">{visible(rollout.answer)}</bdi>],
    ['checked', verdict && visible(verdict.evidence)],
    ['reward', rollout.reward === undefined ? undefined : short(rollout.reward)],
    ['advantage', rollout.advantage === undefined ? undefined : signed(rollout.advantage)],
    ['stop', `${stopWords[rollout.stop]}, ${rollout.wellFormed ? 'well formed' : 'not well formed'}`],
    [
      'tokens',
      `${whole(rollout.tokens)} sampled, ${whole(rollout.toolTokens)} inserted${tokenCounts === undefined ? '' : `, ${whole(tokenCounts.prompt)} prompt`}`,
    ],
    [
      'time',
      `${duration(ms.sampling / 1000)} sampling, ${duration(ms.tools / 1000)} tools, ${duration(ms.checking / 1000)} checking`,
    ],
    [
      'checkpoint',
      <Link key="checkpoint" parts={['runs', run, 'checkpoints']}>
        {rollout.checkpoint.split('/').at(-1)}
      </Link>,
    ],
    ['seed', seed],
    [
      'task',
      <Link key="task" parts={['runs', run, 'tasks', rollout.taskId]}>
        {rollout.taskId}
      </Link>,
    ],
  ] as const
}

const outcomes = { ok: '✓', refused: '✗ refused', malformed: '✗ not readable', environment: '✗ tool failed' }

function Calls({ view: { calls } }: { view: RolloutView }): ReactNode {
  if (calls.length === 0) return null
  return (
    <p className="calls">
      Tool calls:{' '}
      {calls.map(({ agent, outcome, ms, cached }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls never move
        <span key={index} className="chosen">
          {agent} {outcomes[outcome]} <small>{cached ? 'cached' : duration(ms / 1000)}</small>
        </span>
      ))}
    </p>
  )
}
