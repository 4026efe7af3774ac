import { SandboxError } from '../../../base/errors/index.ts'

/**
 * A network namespace does not isolate all socket families: AF_VSOCK reaches the host of a virtual machine. So only
 * socket families that stay inside the sandbox are allowed. io_uring is refused because it can create sockets without
 * passing the filter.
 */
const allowedFamilies = { unix: 1, inet: 2, inet6: 10 } as const

interface Architecture {
  /** AUDIT_ARCH_… from linux/audit.h. */
  audit: number
  socket: number
  socketpair: number
  /** Numbers from here on belong to a second ABI (x32 on x64), which must not bypass the filter. */
  foreignFrom?: number
}

const architectures: Partial<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, foreignFrom: 0x40000000 },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199 },
}
/** io_uring_setup, _enter and _register have the same numbers on every architecture. */
const ioUring = { first: 425, last: 427 } as const

const returnValue = {
  allow: 0x7fff0000,
  kill: 0x80000000,
  /** EAFNOSUPPORT, as on a kernel without that family. */
  noFamily: 0x00050000 | 97,
  /** ENOSYS, as on a kernel without that call. */
  noCall: 0x00050000 | 38,
}

/** Offsets in the kernel's struct seccomp_data. */
const field = { number: 0, architecture: 4, firstArgument: 16 } as const

/** Classic BPF opcodes. */
const load = 0x20
const jumpEqual = 0x15
const jumpAtLeast = 0x35
const returnConstant = 0x06

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

/** The filter in the kernel's format, an array of struct sock_filter, for `bwrap --seccomp`. */
export function systemCallFilter(architecture: string = process.arch): Buffer {
  const known = architectures[architecture]
  if (known === undefined) {
    throw new SandboxError(`bubblewrap has no system-call filter for ${architecture}`, {
      fix: 'Use the pyodide and quickjs drivers on this machine.',
    })
  }
  const { audit, socket, socketpair, foreignFrom } = known
  const program: Instruction[] = [
    [load, 0, 0, field.architecture],
    [jumpEqual, 1, 0, audit],
    [returnConstant, 0, 0, returnValue.kill],
    [load, 0, 0, field.number],
    ...(foreignFrom === undefined
      ? []
      : ([
          [jumpAtLeast, 0, 1, foreignFrom],
          [returnConstant, 0, 0, returnValue.kill],
        ] satisfies Instruction[])),
    [jumpAtLeast, 0, 2, ioUring.first],
    [jumpAtLeast, 1, 0, ioUring.last + 1],
    [returnConstant, 0, 0, returnValue.noCall],
    [jumpEqual, 2, 0, socket],
    [jumpEqual, 1, 0, socketpair],
    [returnConstant, 0, 0, returnValue.allow],
    [load, 0, 0, field.firstArgument],
    [jumpEqual, 3, 0, allowedFamilies.unix],
    [jumpEqual, 2, 0, allowedFamilies.inet],
    [jumpEqual, 1, 0, allowedFamilies.inet6],
    [returnConstant, 0, 0, returnValue.noFamily],
    [returnConstant, 0, 0, returnValue.allow],
  ]
  const bytes = Buffer.alloc(8 * program.length)
  // Both architectures are little-endian.
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index)
    bytes.writeUInt8(ifTrue, 8 * index + 2)
    bytes.writeUInt8(ifFalse, 8 * index + 3)
    bytes.writeUInt32LE(value, 8 * index + 4)
  }
  return bytes
}
