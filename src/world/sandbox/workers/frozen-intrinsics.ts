/**
 * Freezes the built-in objects. Sandboxed code should never reach one; if it does, it cannot change what the worker's
 * own code relies on.
 */
export function freezeIntrinsics(): void {
  const seen = new Set<object>()
  const pending: unknown[] = [
    ...Object.getOwnPropertyNames(globalThis)
      .filter((name) => name !== 'globalThis')
      .map((name) => Reflect.get(globalThis, name) as unknown),
    // Intrinsics without a global name.
    ...[function* () {}, async () => {}, async function* () {}].map((each) => Object.getPrototypeOf(each)),
    ...[[][Symbol.iterator](), new Map().entries(), new Set().entries(), ''[Symbol.iterator]()],
    ...[''.matchAll(/x/g), Object.getPrototypeOf(Uint8Array)],
  ]
  while (pending.length > 0) {
    const thing = pending.pop()
    if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null || seen.has(thing))
      continue
    seen.add(thing)
    pending.push(Object.getPrototypeOf(thing))
    for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(thing))) {
      pending.push(descriptor.value, descriptor.get, descriptor.set)
    }
  }
  for (const thing of seen) freeze(thing)
}

/**
 * A frozen prototype property could not be assigned on derived objects either, which libraries do (`error.name = …`),
 * so it gets a setter that defines the property on the assigned object.
 */
function freeze(thing: object): void {
  const isPrototype = Object.hasOwn(thing, 'constructor')
  for (const key of isPrototype ? Reflect.ownKeys(thing) : []) {
    const { value, writable, configurable, enumerable = false } = Object.getOwnPropertyDescriptor(thing, key)!
    if (writable !== true || configurable !== true) continue
    const set = function (this: object, assigned: unknown): void {
      if (this === thing) throw new TypeError(`${String(key)} of a built-in prototype cannot be changed`)
      Object.defineProperty(this, key, {
        value: assigned,
        writable: true,
        configurable: true,
        enumerable: true,
      })
    }
    const get = (): unknown => value
    Object.defineProperty(thing, key, { get: Object.freeze(get), set: Object.freeze(set), enumerable })
  }
  Object.freeze(thing)
}
