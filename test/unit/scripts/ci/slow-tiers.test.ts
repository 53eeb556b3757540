import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeSince, type Git, gitIn } from '../../../../scripts/ci/change.ts'
import { chooseTiers, slowTiers } from '../../../../scripts/ci/slow-tiers.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

const chosen = (...files: string[]) => chooseTiers({ files, base: 'abc' }, false).tiers

describe('the slow tiers of a change', () => {
  it.each([
    ['CHANGELOG.md', []],
    ['src/client/sync/sync.ts', ['package']],
    ['src/http/orders.ts', slowTiers.filter((tier) => tier !== 'containers')],
    ['src/cli/serve/serve.ts', slowTiers],
    ['src/stores/redis/client.ts', ['fuzz', 'resilience', 'cluster', 'stress', 'package']],
    ['src/cli/node-version.ts', ['resilience', 'cluster', 'stress', 'proxy', 'package', 'recipes']],
    ['docker/edge/haproxy.cfg', ['proxy', 'containers']],
    ['docker/edge/README.md', []],
    ['docker/Dockerfile', ['containers']],
    ['docker-compose.yml', ['containers']],
    ['.dockerignore', ['containers']],
    ['scripts/stand-ins.ts', ['containers']],
    ['scripts/stand-ins/sources.ts', ['containers']],
    ['test/harness/containers/engine.ts', ['containers']],
    ['docker/README.md', []],
    ['test/stress/watch-killed.test.ts', ['stress']],
    ['openapi/page/start.js', ['browser', 'package']],
    ['openapi/recipes/python/pedidos.py', ['browser', 'package', 'recipes']],
    ['scripts/fuzz/hooks.py', ['fuzz', 'recipes']],
    ['test/recipes/dlt.test.ts', ['recipes']],
    ['test/unit/http/api-error.test.ts', []],
    ['package-lock.json', slowTiers],
    ['.ci/run', slowTiers],
    ['a-file-of-no-known-kind', slowTiers],
  ])('the slow tiers of %s are those that it may break', (file, tiers) => {
    expect(chosen(file)).toEqual(tiers)
  })

  it('the slow tiers of several files are the union of theirs', () => {
    expect(chosen('src/client/sync/sync.ts', 'test/browser/docs.test.ts')).toEqual([
      'browser',
      'package',
    ])
  })

  it('the slow tiers of an unknown change are all of them', () => {
    expect(chooseTiers({ unknown: 'no base' }, false)).toEqual({
      tiers: slowTiers,
      reason: 'no base',
    })
  })

  it('the slow tiers of a full run are all of them', () => {
    expect(chooseTiers({ files: [], base: 'abc' }, true).tiers).toEqual(slowTiers)
  })
})

describe('the change since the last landed commit', () => {
  let folder: string
  let git: Git
  beforeEach(() => {
    folder = createTestFolder()
    git = gitIn(folder)
    git('init', '--initial-branch=main')
    save('first', 10)
    save('second', 12)
  })

  /** Commits a new file on a day of June. */
  function save(file: string, day: number) {
    writeFileSync(join(folder, file), file)
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
    const env = { ...process.env, GIT_COMMITTER_DATE: `2026-06-${day}T12:00:00Z` }
    git('add', '-A')
    execFileSync('git', [...identity, 'commit', '-q', '-m', file], { cwd: folder, env })
  }
  const files = (env = {}) => {
    const change = changeSince(git, env)
    return 'files' in change ? change.files : change
  }

  it('the change of a landed commit begins at the last commit that is a day older', () => {
    save('third', 12)
    expect(files()).toEqual(['second', 'third'])
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    expect(files()).toEqual(['second', 'third'])
  })

  it('the change is unknown when the whole history is younger than a day', () => {
    git('reset', '-q', '--hard', 'HEAD~1')
    expect(changeSince(git, {})).toHaveProperty('unknown')
  })

  it('the change is that of the branch since it left the main branch of the remote', () => {
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    save('third', 14)
    save('fourth', 16)
    expect(files()).toEqual(['fourth', 'third'])
  })

  it('the change begins at CI_BASE, and is unknown when that commit is missing', () => {
    save('third', 14)
    expect(files({ CI_BASE: 'HEAD~2' })).toEqual(['second', 'third'])
    expect(files({ CI_BASE: '0000000000000000000000000000000000000000' })).toEqual(['third'])
    expect(files({ CI_BASE: 'abcdef' })).toEqual({ unknown: 'CI_BASE abcdef is not in this clone' })
  })

  it('the change includes uncommitted files', () => {
    writeFileSync(join(folder, 'first'), 'changed')
    writeFileSync(join(folder, 'new'), '')
    expect(files()).toEqual(['first', 'second', 'new'])
  })

  it('the change is unknown in a shallow clone of one commit', () => {
    const clone = join(folder, 'clone')
    git('clone', '-q', '--depth=1', `file://${folder}`, clone)
    expect(changeSince(gitIn(clone), {})).toHaveProperty('unknown')
  })
})
