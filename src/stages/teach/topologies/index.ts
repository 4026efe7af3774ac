import type { Topology } from '../contract.ts'
import { debateTopology } from './debate.ts'
import { managerTopology } from './manager.ts'
import { pipelineTopology } from './pipeline.ts'
import { refineTopology } from './refine.ts'

export const topologies: ReadonlyMap<string, Topology> = new Map(
  [managerTopology, pipelineTopology, debateTopology, refineTopology].map((topology) => [
    topology.name,
    topology,
  ]),
)
