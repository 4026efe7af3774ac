/** Dimensions, known when a graph is built. A negative size is only known at runtime. */
export type Shape = readonly number[]
export type ElementType = 'float32' | 'int32' | 'int64' | 'bool'
export type Attribute = number | readonly number[] | string | { readonly float: number }

/** A value in a graph: the output of a node, or an input. */
export interface Tensor {
  readonly name: string
  readonly shape: Shape
  readonly type: ElementType
}

/** Maps the gradient of a node's first output to the gradients of its inputs; undefined if there is none. */
export type GradientRule = (gradient: Tensor) => readonly (Tensor | undefined)[]

export interface Node {
  readonly op: string
  /** Empty for standard ONNX operators. */
  readonly domain: string
  readonly inputs: readonly Tensor[]
  readonly outputs: readonly Tensor[]
  readonly attributes: Readonly<Record<string, Attribute>>
  readonly gradient: GradientRule | undefined
  /** Tensors the gradient rule returns gradients for: the inputs, unless the rule spans several nodes. */
  readonly differentiated: readonly Tensor[]
}

export interface Constant extends Tensor {
  readonly values: Float32Array | BigInt64Array
}

/** A computation in the order it was written. Operations append nodes; nothing is ever removed. */
export class Graph {
  readonly nodes: Node[] = []
  readonly inputs: Tensor[] = []
  readonly constants: Constant[] = []
  readonly outputs: Tensor[] = []
  readonly #constantByValue = new Map<string, Constant>()
  #count = 0

  input(name: string, shape: Shape, type: ElementType = 'float32'): Tensor {
    const tensor = { name, shape, type }
    this.inputs.push(tensor)
    return tensor
  }

  /** A scalar, or values in the given shape. Repeated constants share a tensor. */
  constant(
    values: number | readonly number[],
    shape: Shape = [],
    type: 'float32' | 'int64' = 'float32',
  ): Constant {
    const list = typeof values === 'number' ? [values] : values
    if (list.length !== sizeOf(shape)) throw new RangeError(`${list.length} values do not fill [${shape}]`)
    const key = list.length > 64 ? undefined : `${type} ${shape} ${list}`
    const known = key === undefined ? undefined : this.#constantByValue.get(key)
    if (known !== undefined) return known
    const array = type === 'int64' ? BigInt64Array.from(list.map(BigInt)) : Float32Array.from(list)
    const made = { name: this.#name('c'), shape, type, values: array }
    this.constants.push(made)
    if (key !== undefined) this.#constantByValue.set(key, made)
    return made
  }

  /** Adds a node with one output. */
  node(
    op: string,
    inputs: readonly Tensor[],
    shape: Shape,
    options: {
      attributes?: Readonly<Record<string, Attribute>>
      domain?: string
      type?: ElementType
      gradient?: GradientRule
      differentiated?: readonly Tensor[]
    } = {},
  ): Tensor {
    const { attributes = {}, domain = '', type = 'float32', gradient, differentiated = inputs } = options
    const output: Tensor = { name: this.#name('t'), shape, type }
    this.nodes.push({ op, domain, inputs, outputs: [output], attributes, gradient, differentiated })
    return output
  }

  /** Adds a node with several outputs. Only the first has a gradient. */
  multiOutputNode(
    op: string,
    inputs: readonly Tensor[],
    shapes: readonly Shape[],
    options: {
      attributes?: Readonly<Record<string, Attribute>>
      domain?: string
      gradient?: (outputs: readonly Tensor[]) => GradientRule
    } = {},
  ): Tensor[] {
    const { attributes = {}, domain = '', gradient } = options
    const outputs = shapes.map((shape): Tensor => ({ name: this.#name('t'), shape, type: 'float32' }))
    this.nodes.push({
      op,
      domain,
      inputs,
      outputs,
      attributes,
      gradient: gradient?.(outputs),
      differentiated: inputs,
    })
    return outputs
  }

  /** Makes a tensor an output under a name. The tensor itself is renamed, because another node would copy it. */
  output(name: string, tensor: Tensor): Tensor {
    const isOwn = this.nodes.some(({ outputs }) => outputs.includes(tensor))
    const given =
      isOwn && !this.outputs.includes(tensor)
        ? tensor
        : this.node('Identity', [tensor], tensor.shape, { type: tensor.type })
    ;(given as { name: string }).name = name
    this.outputs.push(given)
    return given
  }

  #name(prefix: string): string {
    return `${prefix}${this.#count++}`
  }
}

export function sizeOf(shape: Shape): number {
  return shape.reduce((product, size) => product * size, 1)
}

export function sameShape(one: Shape, other: Shape): boolean {
  return one.length === other.length && one.every((size, axis) => size === other[axis])
}
