import { z } from 'zod'
import { serverAddress } from '../settings/index.ts'

/** What holds the student's weights, trains and samples it. */
export const EngineSection = z
  .strictObject({
    /** embedded: inside Node. tinker: a server such as `coa trainer start`. openai: any server, sampling only. */
    driver: z.enum(['embedded', 'tinker', 'openai']).default('embedded'),
    url: serverAddress.optional(),
    /** Name of the environment variable that holds the key. */
    key_env: z.string().min(1).default('COA_ENGINE_KEY'),
    /** Of the embedded engine. Left out: cpu, or wasm where that is missing. */
    device: z.enum(['cpu', 'wasm', 'webgpu']).optional(),
    /** Cores; 0: all, at most 8. */
    threads: z.number().int().nonnegative().default(0),
  })
  .prefault({})
export type EngineSection = z.infer<typeof EngineSection>
