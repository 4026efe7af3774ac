import type { Topology } from '../contract.ts'
import { debateTopology } from './debate.ts'
import { managerTopology } from './manager.ts'
import { pipelineTopology } from './pipeline.ts'
import { refineTopology } from './refine.ts'

/** The built-in ways for a team to work together, by name: manager, pipeline, debate and refine. */
export const topologies: ReadonlyMap<string, Topology> = new Map(
  [managerTopology, pipelineTopology, debateTopology, refineTopology].map((topology) => [
    topology.name,
    topology,
  ]),
)
