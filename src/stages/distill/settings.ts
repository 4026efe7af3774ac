import { z } from 'zod'
import { ConfigError, nearestName } from '../../base/errors/index.ts'
import { type Grammar, givesWay, knownGrammars, type Language } from '../../language/grammar/index.ts'
import { type VoiceOptions, Voices } from '../../language/voice/index.ts'
import { table } from '../../settings/index.ts'
import { modelSection } from '../../world/settings.ts'
import { type DistillMap, DROP } from './rules.ts'

/** How team runs become single-agent sequences. With a model configured, it smooths the transitions between agents. */
export const DistillSection = z
  .strictObject({
    ...modelSection,
    /**
     * What agents, contributions or tools become: { critic = "reflection", report = "drop", search = "web_search" }.
     */
    map: table(z.string().min(1)).default({}),
    /** Thoughts may quote tool output; otherwise verbatim repetitions are removed. */
    quotes: z.boolean().default(false),
    thoughts: z.boolean().default(true),
    /**
     * Rules that rewrite or cut what only a team would say: names of teammates, hand-offs, routing. Patterns are never
     * taken from a run: one from someone else could take forever.
     */
    voice: z
      .strictObject({
        builtin: z.boolean().default(true),
        /** Regular expressions of text to cut. */
        cut: z.array(z.string().min(1)).default([]),
        /** Regular expressions and what each match becomes: { "the boss" = "I" }. */
        replace: z.record(z.string().min(1), z.string()).default({}),
      })
      .prefault({}),
  })
  .prefault({})
export type DistillSection = z.infer<typeof DistillSection>

export interface DistillSettings {
  map: DistillMap
  quotes: boolean
  thoughts: boolean
  voice: VoiceOptions
  /** The grammar of a domain, or the project's own if there is none by that name. */
  grammarOf: (domain: unknown) => Grammar
}

export async function distillSettings(
  { distill }: { distill: DistillSection },
  language: Language,
): Promise<DistillSettings> {
  const { own, byName: grammars } = await knownGrammars(language)
  const known = new Set([...grammars.values()].flatMap(({ agents }) => [...agents.keys()]))
  const map = new Map(Object.entries(distill.map))
  for (const agent of map.values()) assertAgent(agent, known)
  const { quotes, thoughts, voice } = distill
  // A pattern that cannot be used is reported once, before anything is distilled.
  new Voices(voice)
  const grammarOf = (domain: unknown): Grammar =>
    givesWay(domain, language) ? own : (grammars.get(String(domain)) ?? own)
  return { map, quotes, thoughts, voice, grammarOf }
}

function assertAgent(agent: string, known: ReadonlySet<string>): void {
  if (agent === DROP || known.has(agent)) return
  const nearest = nearestName(agent, known)
  throw new ConfigError(`distill.map: no grammar has an agent named "${agent}"`, {
    fix:
      nearest === undefined ? `Use one of ${[...known].join(', ')}, or drop.` : `Did you mean "${nearest}"?`,
  })
}
