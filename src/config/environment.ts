import { integer, oneOf } from './parsers.ts'

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads variables. An empty one counts as unset. An invalid one is added to the problems, with its
 * expected format, and reads as unset.
 */
export interface EnvironmentReader {
  /** `parse` returns `undefined` for an invalid text. */
  read<T, D>(
    name: string,
    parse: (text: string) => T | undefined,
    expected: string,
    fallback: D,
  ): T | D
  /** An integer from `from` to `to` inclusive. */
  readInteger<D>(name: string, from: number, to: number, fallback: D): number | D
  readOneOf<const T extends string>(name: string, values: readonly T[], fallback: T): T
  /** `parse` returns an error for each invalid entry. An unset list is empty. */
  readNetworks<T>(
    name: string,
    parse: (list: string) => { networks: T[]; errors: string[] },
    expected: string,
  ): T[]
}

/** Creates a reader of `env`, which adds to `problems`. */
export function createEnvironmentReader(env: Environment, problems: string[]): EnvironmentReader {
  const read: EnvironmentReader['read'] = (name, parse, expected, fallback) => {
    const text = env[name]
    if (!text) return fallback
    const value = parse(text)
    if (value !== undefined) return value
    problems.push(`${name}: ${expected}`)
    return fallback
  }

  return {
    read,
    readInteger: (name, from, to, fallback) =>
      read(name, integer(from, to), `expected an integer from ${from} to ${to}`, fallback),
    readOneOf: (name, values, fallback) =>
      read(name, oneOf(values), `expected one of ${values.join(', ')}`, fallback),
    readNetworks(name, parse, expected) {
      const list = env[name]
      if (!list) return []
      const { networks, errors } = parse(list)
      if (errors.length > 0) problems.push(`${name}: ${errors.join('; ')}; ${expected}`)
      return networks
    },
  }
}
