import { Fragment, lazy, type ReactNode } from 'react'
import type { Session } from '../src/studio/api.ts'
import { Empty, Screen } from './parts/screen.tsx'
import { RunScreen } from './screens/run.tsx'
import { RunsScreen } from './screens/runs.tsx'

const loaders: (() => Promise<unknown>)[] = []

/** For a screen in a file of its own, so that the first one is there sooner. */
function noted<Load extends () => Promise<unknown>>(load: Load): Load {
  loaders.push(load)
  return load
}

/** Loads all screens, so that none has to be waited for. */
export function loadScreens(): void {
  for (const load of loaders) void load().catch(() => undefined)
}

const CurvesScreen = lazy(
  noted(() => import('./screens/curves.tsx').then((m) => ({ default: m.CurvesScreen }))),
)
const TasksScreen = lazy(noted(() => import('./screens/tasks.tsx').then((m) => ({ default: m.TasksScreen }))))
const TaskScreen = lazy(noted(() => import('./screens/tasks.tsx').then((m) => ({ default: m.TaskScreen }))))
const TeamScreen = lazy(noted(() => import('./screens/team.tsx').then((m) => ({ default: m.TeamScreen }))))
const TrajectoryScreen = lazy(
  noted(() => import('./screens/trajectory.tsx').then((m) => ({ default: m.TrajectoryScreen }))),
)
const ChainsScreen = lazy(
  noted(() => import('./screens/chains.tsx').then((m) => ({ default: m.ChainsScreen }))),
)
const ChainScreen = lazy(noted(() => import('./screens/chain.tsx').then((m) => ({ default: m.ChainScreen }))))
const BothScreen = lazy(noted(() => import('./screens/both.tsx').then((m) => ({ default: m.BothScreen }))))
const FilterScreen = lazy(
  noted(() => import('./screens/filter.tsx').then((m) => ({ default: m.FilterScreen }))),
)
const GroupsScreen = lazy(
  noted(() => import('./screens/groups.tsx').then((m) => ({ default: m.GroupsScreen }))),
)
const GroupScreen = lazy(noted(() => import('./screens/group.tsx').then((m) => ({ default: m.GroupScreen }))))
const RolloutsScreen = lazy(
  noted(() => import('./screens/rollouts.tsx').then((m) => ({ default: m.RolloutsScreen }))),
)
const RolloutScreen = lazy(
  noted(() => import('./screens/rollout.tsx').then((m) => ({ default: m.RolloutScreen }))),
)
const EvalsScreen = lazy(noted(() => import('./screens/evals.tsx').then((m) => ({ default: m.EvalsScreen }))))
const EvalScreen = lazy(noted(() => import('./screens/eval.tsx').then((m) => ({ default: m.EvalScreen }))))
const DiffScreen = lazy(noted(() => import('./screens/diff.tsx').then((m) => ({ default: m.DiffScreen }))))
const CompareScreen = lazy(
  noted(() => import('./screens/compare.tsx').then((m) => ({ default: m.CompareScreen }))),
)
const CompareTaskScreen = lazy(
  noted(() => import('./screens/compare-task.tsx').then((m) => ({ default: m.CompareTaskScreen }))),
)
const CheckpointsScreen = lazy(
  noted(() => import('./screens/checkpoints.tsx').then((m) => ({ default: m.CheckpointsScreen }))),
)
const SettingsScreen = lazy(
  noted(() => import('./screens/settings.tsx').then((m) => ({ default: m.SettingsScreen }))),
)
const StartScreen = lazy(noted(() => import('./screens/start.tsx').then((m) => ({ default: m.StartScreen }))))
const AskScreen = lazy(noted(() => import('./screens/ask.tsx').then((m) => ({ default: m.AskScreen }))))
const JobsScreen = lazy(noted(() => import('./screens/jobs.tsx').then((m) => ({ default: m.JobsScreen }))))
const JobScreen = lazy(noted(() => import('./screens/job.tsx').then((m) => ({ default: m.JobScreen }))))

/** The screen of a path, such as `runs/x/chains/y`. */
export function findScreen(parts: readonly string[], session: Session | undefined): ReactNode {
  const [area, run, section, id] = parts
  const canAct = session?.readOnly === false
  switch (area) {
    case '':
    case 'runs':
      return run === undefined ? (
        <RunsScreen session={session} />
      ) : (
        <Fragment key={`${run}/${section}/${id}`}>{runScreen(run, section ?? '', id, canAct)}</Fragment>
      )
    case 'curves':
      return <CurvesScreen />
    case 'diff':
      return <DiffScreen />
    case 'new':
      return <StartScreen session={session} />
    case 'ask':
      return <AskScreen session={session} />
    case 'jobs':
      return run === undefined ? <JobsScreen /> : <JobScreen key={run} id={run} canAct={canAct} />
    default:
      return <NotFound />
  }
}

function runScreen(run: string, section: string, id: string | undefined, canAct: boolean): ReactNode {
  const own = { run }
  if (id === undefined) {
    switch (section) {
      case '':
        return <RunScreen {...own} canAct={canAct} />
      case 'curves':
        return <CurvesScreen {...own} />
      case 'tasks':
        return <TasksScreen {...own} />
      case 'team':
        return <TeamScreen {...own} />
      case 'chains':
        return <ChainsScreen {...own} />
      case 'filter':
        return <FilterScreen {...own} />
      case 'groups':
        return <GroupsScreen {...own} />
      case 'rollouts':
        return <RolloutsScreen {...own} />
      case 'evals':
        return <EvalsScreen {...own} />
      case 'compare':
        return <CompareScreen {...own} />
      case 'checkpoints':
        return <CheckpointsScreen {...own} canAct={canAct} />
      case 'settings':
        return <SettingsScreen {...own} />
    }
    return <NotFound />
  }
  switch (section) {
    case 'tasks':
      return <TaskScreen {...own} id={id} />
    case 'team':
      return <TrajectoryScreen {...own} id={id} />
    case 'chains':
      return <ChainScreen {...own} id={id} canAct={canAct} />
    case 'both':
      return <BothScreen {...own} id={id} />
    case 'groups':
      return <GroupScreen {...own} id={id} />
    case 'rollouts':
      return <RolloutScreen {...own} id={id} canAct={canAct} />
    case 'evals':
      return <EvalScreen {...own} id={id} />
    case 'compare':
      return <CompareTaskScreen {...own} task={id} />
  }
  return <NotFound />
}

function NotFound(): ReactNode {
  return (
    <Screen title="No such screen">
      <Empty>The address does not belong to a screen of the studio. Choose one from the menu.</Empty>
    </Screen>
  )
}
