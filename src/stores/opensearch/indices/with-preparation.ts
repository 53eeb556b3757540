type Methods = Record<string, (...args: never[]) => Promise<unknown>>

/** The same methods; each call waits for `prepare` first. */
export function withPreparation<T extends object>(store: T, prepare: () => Promise<void>): T {
  const methods = Object.entries(store as Methods).map(([name, method]) => {
    const prepared = async (...args: never[]) => {
      await prepare()
      return method(...args)
    }
    return [name, prepared]
  })
  return Object.fromEntries(methods) as T
}
