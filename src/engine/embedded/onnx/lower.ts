import { type Attribute, type Constant, Graph, type Node, type Shape, type Tensor } from '../graph/graph.ts'

/** Rewrites a node as steps with the same outputs; the last step of each output is written `into` it. */
export type Lowering = (node: Node, steps: Steps) => void

/** A copy of the graph with rules applied to the nodes that have one. */
export function lower(graph: Graph, rules: Readonly<Record<string, Lowering>>): Graph {
  const lowered = new Graph()
  lowered.inputs.push(...graph.inputs)
  lowered.outputs.push(...graph.outputs)
  lowered.constants.push(...graph.constants)
  for (const node of graph.nodes) {
    const rule = rules[node.op]
    if (rule === undefined) lowered.nodes.push(node)
    else rule(node, new Steps(lowered, node.outputs[0]!.name))
  }
  return lowered
}

export class Steps {
  readonly #graph: Graph
  readonly #label: string
  #count = 0

  constructor(graph: Graph, label: string) {
    this.#graph = graph
    this.#label = label
  }

  add(op: string, inputs: readonly Tensor[], shape: Shape, attributes: Node['attributes'] = {}): Tensor {
    return this.into(this.#tensor(shape, 'float32'), op, inputs, attributes)
  }

  /** Gradients have already been built, so steps need no gradient rule. */
  into(
    output: Tensor,
    op: string,
    inputs: readonly Tensor[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): Tensor {
    this.#graph.nodes.push({
      op,
      domain: '',
      inputs,
      outputs: [output],
      attributes,
      gradient: undefined,
      differentiated: inputs,
    })
    return output
  }

  /** Keeps the node, with only some of its outputs. */
  keep(node: Node, outputs: readonly Tensor[]): void {
    this.#graph.nodes.push({ ...node, outputs })
  }

  number(value: number): Tensor {
    return this.#constant({ ...this.#tensor([], 'float32'), values: Float32Array.of(value) })
  }

  sizes(shape: Shape): Tensor {
    const values = BigInt64Array.from(shape, BigInt)
    return this.#constant({ ...this.#tensor([shape.length], 'int64'), values })
  }

  #constant(constant: Constant): Tensor {
    this.#graph.constants.push(constant)
    return constant
  }

  #tensor(shape: Shape, type: Tensor['type']): Tensor {
    return { name: `${this.#label} / ${this.#count++}`, shape, type }
  }
}
