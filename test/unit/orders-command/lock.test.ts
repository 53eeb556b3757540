import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeLock } from '../../../src/orders-command/lock.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

const LOCK = new URL('../../../src/orders-command/lock.ts', import.meta.url)

let folder: string
let remove: () => void
let others: ChildProcess[]
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
  others = []
})
afterEach(() => {
  for (const other of others) other.kill('SIGKILL')
  remove()
})

const prefix = () => join(folder, 'pedidos.csv.lock-')

/** Another process that tries to take the lock, and what it says. */
async function another(): Promise<{ child: ChildProcess; told: string }> {
  const code = `
    import { takeLock } from '${LOCK}'
    try { await takeLock(${JSON.stringify(prefix())}, 'busy'); console.log('taken'); setInterval(() => {}, 1e6) }
    catch (error) { console.log(error.message) }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code])
  others.push(child)
  const [told] = await once(child.stdout, 'data')
  return { child, told: String(told).trim() }
}

describe('a lock', () => {
  it('keeps another process off until it is released, and says who has it', async () => {
    const lock = await takeLock(prefix(), 'busy')
    expect((await another()).told).toBe(`busy (É o processo ${process.pid}.)`)
    await lock.release()
    expect((await another()).told).toBe('taken')
  })

  it('of a process that was killed is nobody’s', async () => {
    const { child } = await another()
    await expect(takeLock(prefix(), 'busy')).rejects.toThrow(`busy (É o processo ${child.pid}.)`)
    child.kill('SIGKILL')
    await once(child, 'close')
    await (await takeLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('of an earlier process with the number of one that runs is nobody’s', async () => {
    const { child } = await another()
    const [name = ''] = readdirSync(folder)
    const [, host] = /-(\w+)$/.exec(name) ?? []
    child.kill('SIGKILL')
    await once(child, 'close')
    writeFileSync(`${prefix()}${process.ppid}-1-${host}`, '')
    await (await takeLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('of another machine is kept, and the file that it is is named', async () => {
    const theirs = `${prefix()}77-88-0badc0de`
    writeFileSync(theirs, '')
    await expect(takeLock(prefix(), 'busy')).rejects.toThrow(`apague ${theirs}.`)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('is no other file that happens to begin like one', async () => {
    writeFileSync(`${prefix()}notas.txt`, '')
    await (await takeLock(prefix(), 'busy')).release()
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('is held by one process at most, of many that begin at once', async () => {
    const told = await Promise.all(Array.from({ length: 4 }, async () => (await another()).told))
    expect(told.filter((text) => text === 'taken').length).toBeLessThanOrEqual(1)
  })
})
