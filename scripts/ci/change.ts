import { execFileSync } from 'node:child_process'
import type { Change } from './slow-tiers.ts'

/** Runs git; `undefined` where it fails. */
export type Git = (...args: readonly string[]) => string | undefined

const DAY_S = 86_400
const LANDED = ['origin/HEAD', 'origin/main', 'origin/master']

/** Git in a folder. */
export const gitIn =
  (folder: string): Git =>
  (...args) => {
    try {
      const stdio = ['ignore', 'pipe', 'ignore'] as const
      return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: [...stdio] }).trim()
    } catch {
      return undefined
    }
  }

/**
 * The files that differ from the last landed commit: the one of `CI_BASE`, or the one where the
 * branch left the remote's main branch. A commit that has landed is compared with the last one that
 * is a day older, because commits land in groups. Unknown where the clone has none of them. A
 * `CI_BASE` of zeros, as of a new branch, counts as absent.
 */
export function changeSince(git: Git, env: NodeJS.ProcessEnv): Change {
  const given = /^0*$/.test(env['CI_BASE'] ?? '') ? undefined : env['CI_BASE']
  if (given !== undefined && commit(git, given) === undefined) {
    return { unknown: `CI_BASE ${given} is not in this clone` }
  }
  const head = commit(git, 'HEAD')
  const base = head === undefined ? undefined : baseOf(git, given, head)
  if (base === undefined) return { unknown: 'the last landed commit is not in this clone' }
  const changed = git('diff', '--name-only', '--no-renames', base, '--')
  const untracked = git('ls-files', '--others', '--exclude-standard')
  if (changed === undefined || untracked === undefined) return { unknown: 'git diff failed' }
  const files = [...changed.split('\n'), ...untracked.split('\n')].filter((file) => file !== '')
  return { files, base: base.slice(0, 10) }
}

function baseOf(git: Git, given: string | undefined, head: string): string | undefined {
  const base = given === undefined ? undefined : commit(git, given)
  if (base !== undefined && base !== head) return git('merge-base', base, head) ?? base
  for (const landed of LANDED) {
    const base = commit(git, landed) && git('merge-base', landed, head)
    if (base && base !== head) return base
  }
  const headTime = Number(git('show', '-s', '--format=%ct', head))
  return git('rev-list', '-1', `--before=${headTime - DAY_S}`, head) || undefined
}

const commit = (git: Git, name: string) =>
  git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)
