/** An error in the arguments of a script, with the usage text. */
export class UsageError extends Error {
  constructor(problem: string, usage: string) {
    super(`${problem}\n${usage}`)
    this.name = 'UsageError'
  }
}

/** Reads the arguments of the script with this usage; each reader throws a {@link UsageError}. */
export function readersOf(usage: string) {
  function refuse(problem: string): never {
    throw new UsageError(problem, usage)
  }

  return {
    refuse,

    /** The result of `parse`. */
    parsed<T>(parse: () => T): T {
      try {
        return parse()
      } catch (error) {
        return refuse(error instanceof Error ? error.message : String(error))
      }
    },

    readInteger(name: string, text: string, from: number, to: number): number {
      const number = Number(text)
      if (/^\d{1,10}$/.test(text) && number >= from && number <= to) return number
      return refuse(`${name} must be an integer from ${from} to ${to}, not "${text}"`)
    },
  }
}
