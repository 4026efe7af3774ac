/** For an option that may be given again. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value]
}
