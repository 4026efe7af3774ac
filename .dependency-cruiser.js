/**
 * The layers of docs/architecture.md, as rules. A folder imports only from lower layers; within one layer
 * only along the arrows listed here; stages (layer 4) never import a stage.
 */
const layers = [
  ['schema', 'errors'],
  ['config', 'observe'],
  ['grammar', 'tokens', 'models', 'sandbox', 'reward', 'store', 'engine'],
  ['tools', 'tasks'],
  ['rollout'],
  ['teach', 'capture', 'distill', 'filter', 'export', 'sft', 'rl', 'serve', 'eval'],
  ['pipeline', 'report'],
  ['cli'],
]
/** Arrows allowed between folders of the same layer. */
const arrows = { reward: ['sandbox'], engine: ['tokens'], schema: ['errors'], tasks: ['tools'] }

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

/** One door per foreign library. */
const doors = {
  ai: ['models'],
  '@ai-sdk/': ['models'],
  hono: ['serve', 'capture'],
  'node:sqlite': ['store'],
  hyparquet: ['store'],
  'hyparquet-writer': ['store'],
  '@huggingface/': ['tokens'],
  'onnxruntime-node': ['engine/embedded'],
  commander: ['cli'],
  '@clack/': ['cli'],
  picocolors: ['cli'],
  'smol-toml': ['config'],
  jsonrepair: ['grammar'],
  pino: ['observe'],
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
      from: { path: '^src/(schema|errors)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'testing-stays-out-of-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/testing/', '\\.test\\.ts$'] },
      to: { path: '^src/testing/' },
    },
    ...layerRules,
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
