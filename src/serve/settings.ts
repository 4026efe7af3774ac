import { z } from 'zod'
import { localFolder } from '../settings/index.ts'

/** How `coa serve` offers a model to applications. */
export const ServeSection = z
  .strictObject({
    port: z.number().int().min(0).max(65_535).default(8080),
    /** Address to listen on. Anything but this machine's own needs keys. */
    host: z.string().min(1).default('127.0.0.1'),
    /** The model's id in the API. Unset: the name of its folder. */
    name: z.string().min(1).optional(),
    /** server: tools run here. client: tool calls are handed to the client, which sends their results. */
    tools: z.enum(['server', 'client']).default('server'),
    /** Accept and ignore functions that a client offers although tools run on the server. */
    ignore_client_tools: z.boolean().default(false),
    /** Environment variable with the keys that clients need, separated by commas. */
    key_env: z.string().min(1).default('COA_SERVE_KEYS'),
    /** A file with keys, one per line. */
    key_file: localFolder().optional(),
    /** Other names that clients reach this server by, as in the Host header. */
    hosts: z.array(z.string().min(1)).default([]),
    /** Origins of web pages that may use the API, such as https://app.example.com. */
    cors: z.array(z.string().min(1)).default([]),
    /** Chains at the same time. */
    chains: z.number().int().positive().default(64),
    /** Chains that wait for their turn; further requests are refused with status 429. */
    queue: z.number().int().nonnegative().default(256),
    /** Chains that one request may ask for, with n or best_of. */
    max_samples: z.number().int().positive().default(16),
    /** Maximum size of a request. */
    body_mb: z.number().positive().default(4),
    /** How long a chain is kept for the client's tool results. */
    hold_s: z.number().positive().default(600),
    /** How many chains are kept at most; beyond that, the oldest is dropped. */
    held: z.number().int().positive().default(256),
    /** How many responses are kept for previous_response_id; 0: none. */
    stored: z.number().int().nonnegative().default(1000),
    /** How long running requests may take after SIGTERM. */
    shutdown_s: z.number().nonnegative().default(30),
  })
  .prefault({})
export type ServeSection = z.infer<typeof ServeSection>
