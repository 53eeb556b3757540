import { hash, randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Some phases of schemathesis, and their limit without `--seconds`. */
export interface Share {
  phases: readonly string[]
  inFull: readonly (string | number)[]
}

/** An API that schemathesis compares with the description that it serves. */
export interface Target {
  name: string
  baseUrl: string
  /** Credentials by their names in the configuration. */
  keys: Readonly<Record<string, string>>
  config: string
  /** The failures that are correct responses, with the reasons. */
  hooks: string
  /** The separate runs. */
  shares: readonly Share[]
  minimumCases: { inFull: number; bounded: number }
}

/** The public API, with the keys of two accounts that must not see each other's orders. */
export const publicApi = (
  baseUrl: string,
  keys: Readonly<Record<'owner' | 'stranger', string>>,
): Target => ({
  ...{ name: 'public', baseUrl, keys },
  config: fileOf('schemathesis.toml'),
  hooks: fileOf('hooks.py'),
  shares: [
    { phases: ['examples', 'coverage', 'fuzzing'], inFull: ['--max-examples', 4_500] },
    // A separate run, because combined with the others it follows only a dozen links. It is limited
    // by time: `hooks.py` replaces drawn cursors, which ends a round early, and only a time limit
    // starts another round.
    { phases: ['stateful'], inFull: ['--max-time', 90] },
  ],
  minimumCases: { inFull: 10_000, bounded: 500 },
})

/** The management API, with a token that may change everything. */
export const managementApi = (baseUrl: string, token: string): Target => ({
  ...{ name: 'management', baseUrl, keys: { admin: token } },
  config: fileOf('management.toml'),
  hooks: fileOf('management_hooks.py'),
  shares: [{ phases: ['examples', 'coverage', 'fuzzing'], inFull: ['--max-examples', 300] }],
  minimumCases: { inFull: 3_000, bounded: 200 },
})

/** A token for one run, and the setting that accepts it. */
export function newManagementToken() {
  const token = randomBytes(32).toString('base64url')
  return { token, setting: `fuzz:admin:${hash('sha256', token)}` }
}
