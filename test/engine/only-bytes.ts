/** A mask that lets only these letters pass, for a tokenizer whose tokens are bytes. */
export function onlyBytes(letters: string): () => Uint8Array {
  return () => {
    const mask = new Uint8Array(259)
    for (const byte of Buffer.from(letters)) mask[byte] = 1
    return mask
  }
}
