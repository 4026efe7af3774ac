import { pythonWith } from '../../python-environment.ts'

/**
 * A Python with the official `openai` and `anthropic` packages: that of COA_TEST_CLIENT_PYTHON, or an environment that is created
 * once (100 MB, half a minute). If there is none, the reason why.
 */
export function pythonWithClients(): { python?: string; missing: string } {
  return pythonWith(['openai', 'anthropic'], {
    variable: 'COA_TEST_CLIENT_PYTHON',
    name: 'coa-client-python',
  })
}
