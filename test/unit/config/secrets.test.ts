import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { loadSecrets } from '../../../src/config/secrets.ts'
import { createCursorCodec } from '../../../src/orders/cursor.ts'
import { listing, states } from '../../support/orders/cursors.ts'
import { asUnprivilegedUser } from '../../support/unprivileged-user.ts'

const given = { kid: 'given', secret: Buffer.alloc(32, 1) }
const pepper = Buffer.alloc(32, 2)

let folder: string
let dataDir: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  dataDir = join(folder, 'a', 'data')
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

const file = () => join(dataDir, 'secrets.json')
const load = (settings: Partial<Parameters<typeof loadSecrets>[0]> = {}) =>
  loadSecrets({
    dataDir,
    opensearchUrls: undefined,
    cursorSecrets: undefined,
    keyPepper: undefined,
    webhookSecrets: undefined,
    ...settings,
  })
const stored = () => JSON.parse(readFileSync(file(), 'utf8'))

/** A file of a version without webhooks. */
function forgetWebhookSecrets(): void {
  const { webhook_secrets: _, ...rest } = stored()
  writeFileSync(file(), JSON.stringify(rest))
}

function damage(text: string): void {
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(file(), text)
}

describe('secrets', () => {
  it('secrets are generated in a missing data folder', () => {
    const { cursorSecrets, keyPepper } = load()
    expect(keyPepper).toHaveLength(32)
    expect(cursorSecrets.map(({ secret }) => secret.length)).toEqual([32])
  })

  it('secrets are the same at the next start', () => {
    expect(load()).toEqual(load())
  })

  it('secrets are different in another folder', () => {
    const one = load()
    dataDir = join(folder, 'b')
    expect(load().keyPepper).not.toEqual(one.keyPepper)
  })

  it('secrets differ from each other', () => {
    const { cursorSecrets, keyPepper } = load()
    expect(cursorSecrets[0].secret).not.toEqual(keyPepper)
  })

  it('secrets are readable only by their owner', () => {
    load()
    expect(statSync(file()).mode & 0o777).toBe(0o600)
  })

  it('secrets are the only file in the folder', () => {
    load()
    load()
    expect(readdirSync(dataDir)).toEqual(['secrets.json'])
  })

  it('secrets from the settings override those in the folder', () => {
    const kept = load()
    const cursorSecrets = [given, ...kept.cursorSecrets]
    expect(load({ cursorSecrets: [given] })).toEqual({ ...kept, cursorSecrets })
    expect(load({ keyPepper: pepper })).toEqual({ ...kept, keyPepper: pepper })
    expect(load({ cursorSecrets: [given], keyPepper: pepper })).toEqual({
      cursorSecrets,
      keyPepper: pepper,
      webhookSecrets: kept.webhookSecrets,
    })
  })

  it('secrets of cursors are generated with another name in every folder', () => {
    const [one] = load().cursorSecrets
    dataDir = join(folder, 'b')
    const [other] = load().cursorSecrets
    expect(one.kid).toMatch(/^file-[0-9a-f]{8}$/)
    expect(other.kid).not.toBe(one.kid)
  })

  it.each([
    ['another name', 'k2'],
    ['the same name, as earlier versions generated it', 'k1'],
  ])('secrets of cursors in the settings keep those from before valid, with %s', (_what, kid) => {
    load()
    const generated = stored().cursor_secrets.replace(/^[^:]+/, 'k1')
    writeFileSync(file(), JSON.stringify({ ...stored(), cursor_secrets: generated }))
    const cursor = createCursorCodec(load().cursorSecrets).seal(listing(), states.full)
    const configured = createCursorCodec(
      load({ cursorSecrets: [{ kid, secret: given.secret }] }).cursorSecrets,
    )
    expect(configured.open(listing(), cursor)).toEqual(states.full)
    expect(configured.open(listing(), configured.seal(listing(), states.full))).toEqual(states.full)
  })

  it('secrets of cursors in the settings that repeat the stored ones are there once', () => {
    const { cursorSecrets } = load()
    expect(load({ cursorSecrets }).cursorSecrets).toEqual(cursorSecrets)
  })

  it('secrets from the settings alone create no folder', () => {
    expect(load({ cursorSecrets: [given], keyPepper: pepper })).toMatchObject({
      cursorSecrets: [given],
      keyPepper: pepper,
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('secrets are the same for concurrent starts', async () => {
    const source = new URL('../../../src/config/secrets.ts', import.meta.url).href
    const start = new SharedArrayBuffer(4)
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(workerData.source).then(({ loadSecrets }) => {
        parentPort.postMessage('ready')
        Atomics.wait(new Int32Array(workerData.start), 0, 0)
        const secrets = loadSecrets({ dataDir: workerData.dataDir })
        parentPort.postMessage(JSON.stringify(secrets))
      })`
    const workers = Array.from(
      { length: 6 },
      () => new Worker(code, { eval: true, workerData: { source, start, dataDir } }),
    )
    await Promise.all(workers.map(nextMessage))
    const loaded = workers.map(nextMessage)
    Atomics.store(new Int32Array(start), 0, 1)
    Atomics.notify(new Int32Array(start), 0)
    expect(new Set(await Promise.all(loaded)).size).toBe(1)
  })
})

describe('the secrets of webhooks', () => {
  const own = (settings = {}) => load(settings).webhookSecrets ?? []

  it('the secrets of webhooks are kept in the file with the others', () => {
    const [{ kid = '', secret = Buffer.alloc(0) } = {}] = own()
    expect(stored().webhook_secrets).toBe(`${kid}:${Buffer.from(secret).toString('base64')}`)
    expect(kid).toMatch(/^file-[0-9a-f]{8}$/)
    expect(secret).toHaveLength(32)
  })

  it('the secrets of webhooks have another name in every folder', () => {
    const [one] = own()
    dataDir = join(folder, 'b')
    expect(own()[0]?.kid).not.toBe(one?.kid)
  })

  it('the secrets of webhooks derive from the pepper where the file has none, and it stays', () => {
    load()
    forgetWebhookSecrets()
    const before = readFileSync(file(), 'utf8')
    const [derived] = own()
    expect(own()).toEqual([derived])
    expect(derived?.kid).toMatch(/^pepper-[0-9a-f]{8}$/)
    expect(derived?.secret).not.toEqual(load().keyPepper)
    expect(readFileSync(file(), 'utf8')).toBe(before)
  })

  it('the secrets of webhooks that derive from another pepper have another name', () => {
    load()
    forgetWebhookSecrets()
    expect(own({ keyPepper: pepper })[0]?.kid).not.toBe(own()[0]?.kid)
  })

  it('the secrets of webhooks derive from a configured pepper without a file', () => {
    const settings = { cursorSecrets: [given], keyPepper: pepper }
    expect(own(settings)).toEqual([
      { kid: expect.stringMatching(/^pepper-[0-9a-f]{8}$/), secret: expect.any(Buffer) },
    ])
    expect(readdirSync(folder)).toEqual([])
  })

  it('the secrets of webhooks in the settings precede that of the folder, which stays valid', () => {
    const kept = own()
    expect(own({ webhookSecrets: [given] })).toEqual([given, ...kept])
  })

  it('the secrets of webhooks in the settings replace one of the same name', () => {
    const [kept] = own()
    const replaced = { kid: kept?.kid ?? '', secret: given.secret }
    expect(own({ webhookSecrets: [replaced] })).toEqual([replaced])
  })

  it('the secrets of webhooks are not generated with OpenSearch', () => {
    const settings = {
      opensearchUrls: ['http://localhost:9200'],
      cursorSecrets: [given] as [typeof given],
      keyPepper: pepper,
    }
    expect(load(settings).webhookSecrets).toBeNull()
    expect(load({ ...settings, webhookSecrets: [given] }).webhookSecrets).toEqual([given])
    expect(readdirSync(folder)).toEqual([])
  })
})

/** Writes create an empty file and then fail, as on a full disk. */
function failWrites(code: string): void {
  const write = vi.spyOn(fs, 'writeFileSync').mockImplementation((path) => {
    fs.closeSync(fs.openSync(path as string, 'wx'))
    throw Object.assign(new Error(`${code}: write`), { code })
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    write.mockRestore()
    syncBuiltinESMExports()
  })
}

it.each(['ENOSPC', 'EDQUOT', 'EROFS'])(
  'secrets that cannot be created because of %s leave no file, and need no restored one',
  (code) => {
    failWrites(code)
    const advice = 'Free space in DATA_DIR, or let this process write there'
    expect(() => load()).toThrow(`cannot create ${file()}: ${code}: write. ${advice}`)
    expect(readdirSync(dataDir)).toEqual([])
  },
)

it.each([
  ['the file, as after a restore by another user', 0o755, 0o000],
  ['the folder', 0o000, 0o600],
])('secrets without access to %s are reported with the owner to set', (_name, folderMode, mode) => {
  load()
  chmodSync(file(), mode)
  for (const path of [folder, join(folder, 'a')]) chmodSync(path, 0o755)
  chmodSync(dataDir, folderMode)
  try {
    for (const settings of [{}, { cursorSecrets: [given] as const, keyPepper: pepper }]) {
      const loading = () => asUnprivilegedUser(() => load(settings))
      expect(loading).toThrow(`cannot use the secrets in ${file()}: EACCES`)
      expect(loading).toThrow('chown the folder and the file to that user')
      expect(loading).not.toThrow('remove it')
    }
  } finally {
    chmodSync(dataDir, 0o700)
  }
})

describe('a damaged file of secrets', () => {
  it.each([
    ['is empty', ''],
    ['was truncated', '{"cursor_secrets": "k1:'],
    ['is not an object', 'null'],
    ['lacks both', '{}'],
    ['has a short pepper', JSON.stringify({ key_pepper: 'AAAA' })],
    ['has numbers', JSON.stringify({ cursor_secrets: 1, key_pepper: 2 })],
    [
      'has an invalid secret of webhooks',
      JSON.stringify({
        cursor_secrets: `k1:${pepper.toString('base64')}`,
        key_pepper: pepper.toString('base64'),
        webhook_secrets: '',
      }),
    ],
  ])(
    'a damaged file of secrets is reported by path when it %s, and not modified',
    (_name, text) => {
      damage(text)
      expect(() => load()).toThrow(file())
      expect(readFileSync(file(), 'utf8')).toBe(text)
    },
  )

  it.each(['cursor_secrets', 'key_pepper'])(
    'a damaged file of secrets is reported by path when its %s is missing',
    (field) => {
      load()
      const { [field]: _, ...rest } = stored()
      damage(JSON.stringify(rest))
      expect(() => load()).toThrow(file())
    },
  )

  it.each([
    [
      'another secret is too short',
      (secret: string) => `{"cursor_secrets":"k1:x","key_pepper":"${secret}"}`,
    ],
    ['a quote is missing', (secret: string) => `{"cursor_secrets":"k1:x","key_pepper":${secret}"}`],
  ])('a damaged file of secrets is reported without a secret when %s', (_name, text) => {
    const secret = Buffer.alloc(32, 'secret').toString('base64')
    damage(text(secret))
    expect(() => load()).not.toThrow(secret.slice(0, 6))
  })

  it('a damaged file of secrets is reported with the alternatives', () => {
    damage('{}')
    expect(() => load()).toThrow('CURSOR_SECRETS and KEY_PEPPER')
  })

  it.each([
    ['is a file', (path: string) => writeFileSync(path, '')],
    ['is a link to a folder that is not mounted', (path: string) => symlinkSync('/nowhere', path)],
  ])('the error of a data folder whose path %s says so', (_name, create) => {
    create(join(folder, 'a'))
    expect(() => load()).toThrow(`cannot create ${file()}: E`)
    expect(() => load()).toThrow(
      ". This path is a file, or a link to a folder that does not exist: mount the link's folder, or correct DATA_DIR",
    )
  })

  // The recursive mkdir of Node never returns there.
  it('a data folder in a file system that creates no folders is reported by path', () => {
    dataDir = '/proc/orders/data'
    expect(() => load()).toThrow(`cannot create ${file()}: E`)
    expect(() => load()).toThrow('. Free space in DATA_DIR, or let this process write there')
  })
})

function nextMessage(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}
