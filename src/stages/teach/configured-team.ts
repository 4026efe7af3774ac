import { openChatModel } from '../../agent/index.ts'
import { ConfigError } from '../../base/errors/index.ts'
import type { EngineSection } from '../../engine/settings.ts'
import type { Dials } from '../../tasks/index.ts'
import type { ChatModel } from '../../world/models/index.ts'
import type { TeacherSection } from '../../world/settings.ts'
import { carefulDials, erringDials } from './dials.ts'
import { type MindSettings, modelMinds } from './model-mind.ts'
import { scriptedMinds } from './scripted-mind.ts'
import type { TeachSection } from './settings.ts'
import type { Team } from './solve-as-team.ts'
import { loadTopology } from './topologies/load.ts'

export interface TeamConfig {
  teach: TeachSection
  teacher: TeacherSection
  /** Runs models that are folders. */
  engine: EngineSection
}

/** The configured team. Models that are folders are opened with the first request, and closed with the team. */
export async function teamOf(config: TeamConfig): Promise<Team> {
  const { teach } = config
  const topology = await loadTopology(teach.topology)
  return {
    name: `${topology.name}-${teach.mind}`,
    topology,
    ...mindsOf(config),
    limits: {
      steps: teach.max_steps,
      tokens: teach.max_tokens,
      wallMs: teach.max_seconds * 1000,
      spend: teach.max_spend,
    },
    prices: { prompt: teach.prompt_price, completion: teach.completion_price },
    reflectEvery: teach.reflect_every,
    replies: {
      replies: teach.replies,
      retries: teach.retries,
      examples: teach.examples,
      workerSteps: teach.worker_steps,
      recheck: teach.recheck,
    },
  }
}

function mindsOf(config: TeamConfig): Pick<Team, 'minds' | 'close'> {
  const { mind, dials } = config.teach
  if (mind === 'model') return modelsOf(config)
  if (mind === 'student')
    throw new ConfigError('teach.mind is "student", so there is no team', {
      fix: 'Set it to model, careful or erring. The student solves tasks alone only in `coa teach`.',
    })
  const chances = { ...(mind === 'careful' ? carefulDials : erringDials), ...(dials as Partial<Dials>) }
  return { minds: scriptedMinds(chances) }
}

/** How a model is asked. */
export function mindSettings(
  { constrained, comments }: TeachSection,
  { temperature, max_tokens: maxTokens }: TeacherSection,
): MindSettings {
  return { temperature, maxTokens, comments, ...(constrained === undefined ? {} : { constrained }) }
}

function modelsOf({ teach, teacher, engine }: TeamConfig): Pick<Team, 'minds' | 'close'> {
  const folders = new Map<string, ChatModel>()
  const open = (section: string, settings: TeacherSection): ChatModel => {
    const { base_url: url, model: folder = '' } = settings
    // Agents that share a folder share its engine.
    const model =
      (url === undefined ? folders.get(folder) : undefined) ?? openChatModel(section, settings, engine)
    if (model === undefined)
      throw new ConfigError('the team has no model', {
        fix: 'Set teacher.model to a folder, or teacher.base_url and teacher.model, or teach.mind to careful or erring.',
      })
    if (model.continues === true) folders.set(folder, model)
    else if (teach.constrained === true)
      throw new ConfigError(`teach.constrained is true, but the model of [${section}] is behind an API`, {
        fix: 'Set it to false, or name a model folder instead of a server.',
      })
    return model
  }
  const model = open('teacher', teacher)
  const others = Object.entries(teacher.agents).map(([agent, own]) => {
    // A model of its own says where it is: a folder must not end up at the team's server.
    const place = own.model === undefined && own.base_url === undefined ? {} : { base_url: own.base_url }
    const settings = { ...teacher, ...own, ...place } as TeacherSection
    return { agent, settings, model: open(`teacher.agents.${agent}`, settings) }
  })
  const settingsOf = (section: TeacherSection): MindSettings => mindSettings(teach, section)
  return {
    minds: modelMinds(
      model,
      Object.fromEntries(others.map(({ agent, model }) => [agent, model])),
      settingsOf(teacher),
      Object.fromEntries(others.map(({ agent, settings }) => [agent, settingsOf(settings)])),
    ),
    close: async () => {
      await Promise.all([...folders.values()].map((one) => one.close?.()))
    },
  }
}
