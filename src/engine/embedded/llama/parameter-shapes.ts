import { type ModelShape, type Parameter, parametersOf } from '../../checkpoint/index.ts'
import { adapterNames, isAdapter, type LoraSettings, takesAdapter } from './lora.ts'

/** Every parameter of a model, with adapters after the projections they belong to. */
export function parameterShapes(shape: ModelShape, lora: LoraSettings | undefined): Parameter[] {
  const parameters = parametersOf(shape)
  if (lora === undefined) return parameters
  return parameters.flatMap((parameter) => {
    const projection = parameter.name.replace(/\.weight$/, '')
    if (parameter.kind !== 'matrix' || !takesAdapter(projection)) return [parameter]
    const [to, from] = parameter.shape as [number, number]
    const { down, up } = adapterNames(projection)
    return [
      parameter,
      { name: down, shape: [lora.rank, from], kind: 'matrix' as const },
      { name: up, shape: [to, lora.rank], kind: 'matrix' as const },
    ]
  })
}

/** With LoRA, only the adapters are trained. */
export function isTrained(name: string, lora: LoraSettings | undefined): boolean {
  return lora === undefined || isAdapter(name)
}
