import { z } from 'zod'
import { table } from '../../settings/index.ts'
import { modelSection } from '../../world/settings.ts'

/** How a team's runs become one voice. With the address and name of a model it smooths the joints between agents. */
export const DistillSection = z
  .strictObject({
    ...modelSection,
    /** Agents, contributions or tools and what they become: { critic = "reflection", report = "drop", search = "web_search" }. */
    map: table(z.string().min(1)).default({}),
    /** Thoughts may quote what a tool returned; otherwise what was said word for word is not said again. */
    quotes: z.boolean().default(false),
    thoughts: z.boolean().default(true),
  })
  .prefault({})
export type DistillSection = z.infer<typeof DistillSection>
