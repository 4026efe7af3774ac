import { ConfigError } from '../base/errors/index.ts'
import type { EngineSection } from '../engine/settings.ts'
import { readEnvironment } from '../settings/index.ts'
import { type ChatModel, modelFromSettings } from '../world/models/index.ts'
import type { ModelSection } from '../world/settings.ts'
import { engineModel } from './engine-model.ts'
import { modelFolder, openStudent } from './open-student.ts'

/**
 * The chat model of a section of the settings: behind an API if it has a base URL, else a folder or a bundled model, opened on the
 * configured engine with the first request. Undefined if the section names none.
 */
export function openChatModel(
  section: string,
  settings: ModelSection,
  engine: EngineSection,
): ChatModel | undefined {
  const { base_url: url, model } = settings
  if (url !== undefined || model === undefined) return modelFromSettings(section, settings, readEnvironment())
  const folder = folderOf(section, model)
  return engineModel(model, async () => {
    // It is only sampled, so a LoRA rank for the student does not concern it.
    const student = { model: folder, lora_rank: 0 }
    const opened = await openStudent({ engine, student }, folder)
    return { ...opened, close: () => opened.engine.close() }
  })
}

function folderOf(section: string, model: string): string {
  try {
    return modelFolder(model)
  } catch {
    throw new ConfigError(`[${section}] has no base_url, and "${model}" is not a model folder`, {
      fix: `Set ${section}.base_url to the server that has the model, or ${section}.model to a folder with a config.json.`,
    })
  }
}
