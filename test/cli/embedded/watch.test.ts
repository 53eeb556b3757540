import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../../support/cli/command.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

describe('index watch', () => {
  it('index watch without Redis exits 1 and names the requirement and its setting', async () => {
    const { code, stdout, stderr } = await runCommand(['index', 'watch'], { DATA_DIR: folder })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^"index watch" needs Redis.* set REDIS_URL, or STREAM_REDIS_URL/)
    expect(existsSync(join(folder, 'watch.lock'))).toBe(false)
  })

  it('names a certificate that cannot be read', async () => {
    const settings = { REDIS_URL: 'rediss://127.0.0.1:1', REDIS_CA_FILE: '/nowhere.pem' }
    const env = { DATA_DIR: folder, ...settings }
    const { code, stderr } = await runCommand(['index', 'watch'], env)
    expect(code).toBe(1)
    expect(stderr).toContain('REDIS_CA_FILE: cannot read a PEM certificate from /nowhere.pem')
  })
})

describe('index load --stream', () => {
  const load = (...args: string[]) =>
    runCommand(['index', 'load', '-', '--stream', ...args], { DATA_DIR: folder }, '{}')

  it('index load --stream without Redis exits 1 and names the requirement and its setting', async () => {
    const { code, stdout, stderr } = await load()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /^"index load --stream" needs Redis.* set REDIS_URL, or STREAM_REDIS_URL/,
    )
  })

  it.each(['--reproject', '--dry-run'])(
    'index load --stream together with %s exits 2',
    async (option) => {
      const { code, stdout, stderr } = await load(option)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('--stream')
      expect(stderr).toContain(option)
    },
  )
})
