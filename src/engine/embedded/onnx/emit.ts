import { ProtobufWriter } from '../../protobuf-writer.ts'
import type { Attribute, Constant, ElementType, Graph, Node, Tensor } from '../graph/graph.ts'

/** Constants of the ONNX format. */
const elementTypes: Record<ElementType, number> = { float32: 1, int32: 6, int64: 7, bool: 9 }
const attributeTypes = { float: 1, int: 2, text: 3, ints: 7 }
const irVersion = 8
const opset = 17

/** Serializes a graph as an ONNX model. */
export function toOnnx(graph: Graph): Uint8Array {
  const needed = neededNodes(graph)
  const names = new Set(needed.flatMap(({ inputs }) => inputs.map(({ name }) => name)))
  return new ProtobufWriter()
    .int(1, irVersion)
    .text(2, 'coa')
    .message(7, (model) => {
      for (const node of needed) model.message(1, (writer) => writeNode(writer, node))
      model.text(2, 'coa')
      for (const constant of graph.constants) {
        if (names.has(constant.name)) model.message(5, (writer) => writeConstant(writer, constant))
      }
      for (const tensor of graph.inputs) {
        if (names.has(tensor.name)) model.message(11, (writer) => writeValue(writer, tensor))
      }
      for (const tensor of graph.outputs) model.message(12, (writer) => writeValue(writer, tensor))
    })
    .message(8, (domain) => domain.text(1, '').int(2, opset))
    .message(8, (domain) => domain.text(1, 'com.microsoft').int(2, 1))
    .finish()
}

/** Names of the inputs that the outputs depend on. */
export function neededInputs(graph: Graph): string[] {
  const names = new Set(neededNodes(graph).flatMap(({ inputs }) => inputs.map(({ name }) => name)))
  return graph.inputs.map(({ name }) => name).filter((name) => names.has(name))
}

/** Nodes that some output depends on: differentiation also adds unused ones. */
function neededNodes(graph: Graph): Node[] {
  const wanted = new Set(graph.outputs.map(({ name }) => name))
  const needed: Node[] = []
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some(({ name }) => wanted.has(name))) continue
    needed.push(node)
    for (const { name } of node.inputs) wanted.add(name)
  }
  return needed.reverse()
}

function writeNode(writer: ProtobufWriter, { op, domain, inputs, outputs, attributes }: Node): void {
  for (const { name } of inputs) writer.text(1, name)
  for (const { name } of outputs) writer.text(2, name)
  writer.text(3, `n_${outputs[0]!.name}`).text(4, op)
  for (const [name, value] of Object.entries(attributes)) {
    writer.message(5, (attribute) => writeAttribute(attribute.text(1, name), value))
  }
  if (domain !== '') writer.text(7, domain)
}

function writeAttribute(writer: ProtobufWriter, value: Attribute): void {
  if (typeof value === 'number') writer.int(3, value).int(20, attributeTypes.int)
  else if (typeof value === 'string') writer.text(4, value).int(20, attributeTypes.text)
  else if ('float' in value) writer.float(2, value.float).int(20, attributeTypes.float)
  else {
    for (const each of value) writer.int(8, each)
    writer.int(20, attributeTypes.ints)
  }
}

function writeConstant(writer: ProtobufWriter, { name, shape, type, values }: Constant): void {
  for (const size of shape) writer.int(1, size)
  writer
    .int(2, elementTypes[type])
    .text(8, name)
    .bytes(9, new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
}

function writeValue(writer: ProtobufWriter, { name, shape, type }: Tensor): void {
  writer.text(1, name).message(2, (value) =>
    value.message(1, (tensor) =>
      tensor.int(1, elementTypes[type]).message(2, (sizes) => {
        for (const size of shape) {
          sizes.message(1, (dimension) =>
            size < 0 ? dimension.text(2, `size${-size}`) : dimension.int(1, size),
          )
        }
      }),
    ),
  )
}
