/** A mask that allows only these letters, for a byte tokenizer. */
export function onlyBytes(letters: string): () => Uint8Array {
  return () => {
    const mask = new Uint8Array(259)
    for (const byte of Buffer.from(letters)) mask[byte] = 1
    return mask
  }
}
