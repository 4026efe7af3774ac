import { openTinker } from '../../../src/engine/index.ts'
import { learn } from './lesson.ts'

// A client that will be killed: node lost-client.ts URL TOKENIZER STATE
const [url, tokenizer, state] = process.argv.slice(2) as [string, string, string]
const engine = await openTinker({ url, tokenizer, state })
await learn(engine, 0, 6, (step, loss) => console.log(JSON.stringify({ step, loss })))
