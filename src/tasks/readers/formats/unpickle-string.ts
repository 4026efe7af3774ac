/**
 * Reads a single string from a Python pickle without executing anything. Pickles are programs, and Python's own reader
 * would run them. Only the opcodes of a bare string are supported (protocols 1 to 5); anything else is rejected.
 */
export function unpickleString(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  let value: string | undefined
  const text = (header: number, length: number) => {
    const from = at + 1 + header
    if (from + length > bytes.length) throw new Error('the pickle ends within a string')
    value = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(from, from + length))
    at = from + length
  }
  while (at < bytes.length) {
    switch (bytes[at]) {
      case 0x80: // PROTO and its version
        at += 2
        break
      case 0x95: // FRAME and its length
        at += 9
        break
      case 0x8c: // SHORT_BINUNICODE
        text(1, view.getUint8(at + 1))
        break
      case 0x58: // BINUNICODE
        text(4, view.getUint32(at + 1, true))
        break
      case 0x8d: // BINUNICODE8
        text(8, Number(view.getBigUint64(at + 1, true)))
        break
      case 0x94: // MEMOIZE
        at += 1
        break
      case 0x71: // BINPUT and an index
        at += 2
        break
      case 0x72: // LONG_BINPUT and an index
        at += 5
        break
      case 0x2e: // STOP
        if (value === undefined) throw new Error('the pickle is empty')
        return value
      default:
        throw new Error('the pickle is more than a string')
    }
  }
  throw new Error('the pickle has no end')
}
