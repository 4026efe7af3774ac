/** Parses an option that may be repeated. */
export function repeatable(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}
