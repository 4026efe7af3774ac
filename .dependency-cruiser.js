/**
 * The layers of docs/architecture.md, as rules, in the order in which data flows. A folder imports only from lower
 * layers; within one layer only along the arrows listed here; stages never import each other.
 */
const layers = [
  ['base', 'schema'],
  ['settings'],
  ['language', 'store', 'engine'],
  ['world', 'reward', 'tasks', 'logs'],
  ['agent'],
  ['stages'],
  ['serve', 'studio'],
  ['pipeline', 'deploy'],
  ['cli'],
]
/** Arrows allowed between folders of the same layer. */
const arrows = { schema: ['base'], engine: ['language'], reward: ['world'], tasks: ['world', 'reward'] }
const stages = ['tasks', 'teach', 'capture', 'distill', 'filter', 'export', 'sft', 'rl', 'eval']

const folder = (name) => `^src/${name}/`
const layerRules = layers.flatMap((names, level) =>
  names.map((name) => {
    const allowed = [name, ...layers.slice(0, level).flat(), ...(arrows[name] ?? [])]
    return {
      name: `layer-${name}`,
      comment: `src/${name} may import only ${allowed.join(', ')}`,
      severity: 'error',
      from: { path: folder(name), pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: allowed.map(folder) },
    }
  }),
)

const stageRules = stages.map((name) => ({
  name: `stage-${name}`,
  comment: `src/stages/${name} may not import another stage`,
  severity: 'error',
  from: { path: folder(`stages/${name}`), pathNot: '\\.test\\.ts$' },
  to: { path: '^src/stages/', pathNot: [folder(`stages/${name}`), '^src/stages/stage\\.ts$'] },
}))

/** One door per foreign library. */
const doors = {
  ai: ['world/models'],
  '@ai-sdk/': ['world/models'],
  'node:sqlite': ['store'],
  hyparquet: ['store'],
  'hyparquet-writer': ['store'],
  '@huggingface/': ['language/tokens'],
  'onnxruntime-node': ['engine/embedded'],
  commander: ['cli'],
  '@clack/': ['cli'],
  picocolors: ['cli'],
  'smol-toml': ['settings'],
  jsonrepair: ['language/grammar'],
}
const doorRules = Object.entries(doors).map(([library, folders]) => ({
  name: `door-${library}`,
  comment: `only src/${folders.join(', src/')} may import ${library}`,
  severity: 'error',
  from: { path: '^src/', pathNot: folders.map(folder) },
  to: {
    path: library.startsWith('node:')
      ? `^(node:)?${library.slice(5)}$`
      : `^node_modules/${library.endsWith('/') ? library : `${library}/`}`,
  },
}))

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'schema-is-runtime-neutral',
      comment: 'src/schema is imported by the studio: no Node built-ins',
      severity: 'error',
      from: { path: '^src/(schema|base/errors)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'schema-needs-only-errors',
      comment: 'other parts of src/base use Node built-ins, which the studio does not have',
      severity: 'error',
      from: { path: '^src/schema/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/base/', pathNot: '^src/base/errors/' },
    },
    {
      name: 'testing-stays-out-of-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/testing/', '\\.test\\.ts$'] },
      to: { path: '^src/testing/' },
    },
    {
      name: 'suites-have-one-door',
      comment:
        'the method knows suites by their contract: only src/tasks/suites/index.ts imports their folders',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/tasks/suites/' },
      to: { path: '^src/tasks/suites/[^/]+/' },
    },
    {
      name: 'suites-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/tasks/suites/([^/]+)/' },
      to: { path: '^src/tasks/suites/[^/]+/', pathNot: '^src/tasks/suites/$1/' },
    },
    ...layerRules,
    ...stageRules,
    ...doorRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
