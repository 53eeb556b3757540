import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { acquireLock } from '../../../../src/orders-cli/lock/lock.ts'
import { ownName } from '../../../../src/orders-cli/lock/process-identity.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

const LOCK = new URL('../../../../src/orders-cli/lock/lock.ts', import.meta.url)

let folder: string
let others: ChildProcess[]
let renewals: NodeJS.Timeout | undefined
beforeEach(() => {
  folder = createTestFolder()
  others = []
})
afterEach(() => {
  vi.useRealTimers()
  clearInterval(renewals)
  for (const other of others) other.kill('SIGKILL')
})

const prefix = () => join(folder, 'pedidos.csv.lock-')

/** Writes a lock of another process table. */
function foreignLock(host: string, ageSeconds = 0): string {
  const file = `${prefix()}77-88-${host}`
  writeFileSync(file, '')
  const renewedAt = Date.now() / 1000 - ageSeconds
  utimesSync(file, renewedAt, renewedAt)
  return file
}

/** As a process that this machine does not see. */
function keepRenewing(file: string): void {
  renewals = setInterval(() => writeFileSync(file, '.'), 700)
}

/** Starts another process that tries to acquire the lock, and returns its output. */
async function another(): Promise<{ child: ChildProcess; output: string }> {
  const code = `
    import { acquireLock } from '${LOCK}'
    try { await acquireLock(${JSON.stringify(prefix())}, 'busy'); console.log('taken'); setInterval(() => {}, 1e6) }
    catch (error) { console.log(error.message) }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code])
  others.push(child)
  const [output] = await once(child.stdout, 'data')
  return { child, output: String(output).trim() }
}

describe('a lock', () => {
  it('excludes another process until its release, and names its holder', async () => {
    const lock = await acquireLock(prefix(), 'busy')
    expect((await another()).output).toBe(`busy (É o processo ${process.pid}.)`)
    await lock.release()
    expect((await another()).output).toBe('taken')
  })

  it('is written to no file that a link with its name names', async () => {
    const other = join(folder, 'other')
    writeFileSync(other, 'kept')
    symlinkSync(other, prefix() + ownName())
    const lock = await acquireLock(prefix(), 'busy')
    expect(readFileSync(other, 'utf8')).toBe('kept')
    await lock.release()
  })

  it('is renewed through no link that takes its place', async () => {
    const lock = await acquireLock(prefix(), 'busy')
    const other = join(folder, 'other')
    writeFileSync(other, 'kept')
    rmSync(prefix() + ownName())
    symlinkSync(other, prefix() + ownName())
    await expect(lock.assertHeld()).rejects.toThrow(
      `${prefix()}${ownName()} é um link simbólico, e o comando não escreve através de um.`,
    )
    expect(readFileSync(other, 'utf8')).toBe('kept')
    await lock.release()
  })

  it('a lock of a killed process is removed', async () => {
    const { child } = await another()
    await expect(acquireLock(prefix(), 'busy')).rejects.toThrow(`busy (É o processo ${child.pid}.)`)
    child.kill('SIGKILL')
    await once(child, 'close')
    await (await acquireLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a killed process leaves no lock file', async () => {
    const { child } = await another()
    expect(readdirSync(folder)).toHaveLength(1)
    child.kill('SIGKILL')
    await expect.poll(() => readdirSync(folder)).toEqual([])
  })

  it('a lock that is released and acquired again stays', async () => {
    for (let round = 0; round < 5; round++) {
      const lock = await acquireLock(prefix(), 'busy')
      expect((await another()).output).toMatch(/^busy/)
      await lock.release()
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock of a dead process whose pid is reused is removed', async () => {
    const { child } = await another()
    const [name = ''] = readdirSync(folder)
    const [, host] = /-(\w+)$/.exec(name) ?? []
    child.kill('SIGKILL')
    await once(child, 'close')
    writeFileSync(`${prefix()}${process.ppid}-1-${host}`, '')
    await (await acquireLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock of another machine is kept once it is renewed, and its file is named', async () => {
    const theirs = foreignLock('0badc0de')
    keepRenewing(theirs)
    await expect(acquireLock(prefix(), 'busy')).rejects.toThrow(`acaba de renovar ${theirs}.`)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('a start waits for the lock of a restarted container to expire, and reports it once', async () => {
    const theirs = foreignLock('0badc0de', 57)
    const lines: string[] = []
    const status = { printLine: (line: string) => lines.push(line) }
    await (await acquireLock(prefix(), 'busy', { status })).release()
    expect(lines).toEqual([expect.stringMatching(/^esperando até [123] s: /)])
    expect(lines[0]).toContain(theirs)
    expect(readdirSync(folder)).toEqual([])
  })

  it('a start that waits for a lock continues when its file is removed', async () => {
    const theirs = foreignLock('0badc0de')
    setTimeout(() => rmSync(theirs), 700)
    await (await acquireLock(prefix(), 'busy')).release()
  })

  it('a wait for a lock ends at an interruption, and leaves no lock', async () => {
    foreignLock('0badc0de')
    const signal = AbortSignal.timeout(700)
    await expect(acquireLock(prefix(), 'busy', { signal })).rejects.toThrow(/abort/)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('a lock of a killed container or machine is removed after a minute', async () => {
    foreignLock('0badc0de', 61)
    await (await acquireLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock of another machine is kept where the clock of this process is ahead', async () => {
    keepRenewing(foreignLock('0badc0de'))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    await expect(acquireLock(prefix(), 'busy')).rejects.toThrow('busy (Ele roda em outra máquina')
  })

  it('a lock renews the time of its file until its release', async () => {
    const lock = await acquireLock(prefix(), 'busy', { renewalMs: 5 })
    const [name = ''] = readdirSync(folder)
    const ageMs = () => Date.now() - statSync(join(folder, name)).mtimeMs
    utimesSync(join(folder, name), 1, 1)
    await expect.poll(ageMs).toBeLessThan(60_000)
    await lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock that another process removed is lost, and its file is not created again', async () => {
    const lock = await acquireLock(prefix(), 'busy')
    await lock.assertHeld()
    const [name = ''] = readdirSync(folder)
    rmSync(join(folder, name))
    await expect(lock.assertHeld()).rejects.toThrow(/^busy .* perdeu a vez/)
    await lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a lock whose folder was moved is lost, and the folder is named', async () => {
    const lock = await acquireLock(prefix(), 'busy')
    renameSync(folder, `${folder}-moved`)
    try {
      await expect(lock.assertHeld()).rejects.toThrow(`A pasta ${folder} foi apagada ou movida.`)
    } finally {
      renameSync(`${folder}-moved`, folder)
    }
    await lock.release()
  })

  it('a lock is distinguished from other files with its prefix', async () => {
    writeFileSync(`${prefix()}notas.txt`, '')
    await (await acquireLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('a lock has one holder at most when several processes start at once', async () => {
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => (await another()).output),
    )
    expect(outputs.filter((text) => text === 'taken').length).toBeLessThanOrEqual(1)
  })
})
