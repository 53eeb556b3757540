import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { openFolderStore } from '../../../../src/orders-cli/destinations/folder.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { syncState } from '../../../support/orders-cli/sync-state.ts'
import { readSyncedOrders } from '../../../support/orders-cli/synced-orders.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let parent: string
let folder: string
beforeEach(() => {
  parent = createTestFolder()
  folder = join(parent, 'copy')
})

const orders = (...ids: string[]) => ids.map((id) => apiOrder({ id }))
const stateOf = (number: number) => syncState({ number, reached: 'listed' })

describe('the folder of a store', () => {
  it('the folder of a store has an indented JSON file per order, readable by its owner only', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1'), stateOf(1))
    await copy.close()
    const [shard = ''] = readdirSync(join(folder, 'orders'))
    const file = join(folder, 'orders', shard, 'ord_1.json')
    expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(apiOrder(), null, 2)}\n`)
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  it('the folder of a store has no lock and no temporary files after close', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
    await copy.close()
    expect(readdirSync(join(folder, '.sync')).sort()).toEqual([
      'copy.json',
      'seen-1',
      'state.json',
      'tmp',
    ])
    expect(readdirSync(join(folder, '.sync/tmp'))).toEqual([])
  })

  it('loses orders that a run has not seen, and no foreign files', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_gone'), stateOf(1))
    await copy.save(orders('ord_1'), stateOf(2))
    mkdirSync(join(folder, 'orders', 'backup'))
    const strange = [join(folder, 'orders', 'backup', 'mine.json'), join(folder, 'orders', 'de')]
    for (const path of strange) writeFileSync(path, 'mine')
    expect(await copy.deleteUnseen(2)).toBe(1)
    await copy.close()
    for (const path of strange) expect(readFileSync(path, 'utf8')).toBe('mine')
    expect(readdirSync(join(folder, 'orders'), { recursive: true })).not.toContainEqual(
      expect.stringContaining('ord_gone'),
    )
  })

  it('keeps the seen log of a run until the run is done', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1'), stateOf(1))
    await copy.save([], syncState({ reached: 'done' }))
    await copy.close()
    expect(readdirSync(join(folder, '.sync'))).not.toContain('seen-1')
  })

  it('keeps an order that was seen after a crash tore a line of the log', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
    writeFileSync(join(folder, '.sync/seen-1'), '\nord_1\nord_')
    await copy.save(orders('ord_2'), stateOf(1))
    expect(await copy.deleteUnseen(1)).toBe(0)
    await copy.close()
  })

  it('appends to no file that a link with the name of the seen log names', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1'), stateOf(1))
    const [log, other] = [join(folder, '.sync/seen-1'), join(parent, 'other')]
    writeFileSync(other, 'kept')
    rmSync(log)
    symlinkSync(other, log)
    await expect(copy.save(orders('ord_2'), stateOf(1))).rejects.toThrow(
      `${log} é um link simbólico, e o comando não escreve através de um.`,
    )
    expect(readFileSync(other, 'utf8')).toBe('kept')
    await copy.close()
  })

  it('keeps every order when the seen log is gone', async () => {
    const store = await openFolderStore(folder)
    await store.save(orders('ord_1', 'ord_2'), stateOf(1))
    await store.close()
    rmSync(join(folder, '.sync/seen-1'))
    const copy = await openFolderStore(folder)
    expect(await copy.deleteUnseen(1)).toBe(0)
    await copy.close()
    expect((await readSyncedOrders(folder)).size).toBe(2)
  })

  it('keeps the orders of the other folders once another process has removed its expired lock', async () => {
    const copy = await openFolderStore(folder)
    const ids = Array.from({ length: 100 }, (_, at) => `ord_${at}`)
    await copy.save(orders(...ids), stateOf(1))
    await copy.save([], stateOf(2))
    const [first = ''] = readdirSync(join(folder, 'orders')).sort()
    const deleting = copy.deleteUnseen(2).catch((error: Error) => error)
    while (readdirSync(join(folder, 'orders', first)).length > 0) await setImmediate()
    const [lock = ''] = readdirSync(join(folder, '.sync')).filter((name) => /^lock-/.test(name))
    rmSync(join(folder, '.sync', lock))
    expect(await deleting).toMatchObject({ message: expect.stringContaining('perdeu a vez') })
    expect((await readSyncedOrders(folder)).size).toBeGreaterThan(50)
    await copy.close()
  })

  it('keeps the orders and the state of the process that has removed its expired lock during a save', async () => {
    const copy = await openFolderStore(folder)
    const ids = Array.from({ length: 400 }, (_, at) => `ord_${at}`)
    await copy.save(orders(...ids), stateOf(1))
    const changed = ids.map((id) => ({ ...apiOrder({ id }), status: 'REFUNDED' as const }))
    const saving = copy.save(changed, stateOf(2)).catch((error: Error) => error)
    const isBegun = () => readdirSync(join(folder, '.sync/tmp')).length > 0
    while (!isBegun()) await setImmediate()
    const [lock = ''] = readdirSync(join(folder, '.sync')).filter((name) => /^lock-/.test(name))
    rmSync(join(folder, '.sync', lock))
    expect(await saving).toMatchObject({ message: expect.stringContaining('perdeu a vez') })
    const kept = [...(await readSyncedOrders(folder)).values()]
    expect(kept.filter(({ status }) => status === 'REFUNDED').length).toBeLessThan(200)
    expect((await copy.read())?.pass.number).toBe(1)
    expect(readdirSync(join(folder, '.sync'))).toContain('seen-1')
    await copy.close()
  })

  it('keeps the state of the process that has removed its expired lock while the state is saved', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1'), stateOf(1))
    const saving = copy.save(orders('ord_1'), stateOf(2)).catch((error: Error) => error)
    const names = () => readdirSync(join(folder, '.sync'))
    while (!names().includes('seen-2')) await setImmediate()
    const [lock = ''] = names().filter((name) => /^lock-/.test(name))
    rmSync(join(folder, '.sync', lock))
    expect(await saving).toMatchObject({ message: expect.stringContaining('perdeu a vez') })
    expect((await copy.read())?.pass.number).toBe(1)
    await copy.close()
  })

  it('reports a lost lock also after the next process has removed the temporary files', async () => {
    const copy = await openFolderStore(folder)
    const ids = Array.from({ length: 400 }, (_, at) => `ord_${at}`)
    const saving = copy.save(orders(...ids), stateOf(1)).catch((error: Error) => error)
    const own = join(folder, '.sync')
    while (readdirSync(join(own, 'tmp')).length === 0) await setImmediate()
    for (const name of readdirSync(own).filter((one) => /^(lock-|tmp$)/.test(one))) {
      rmSync(join(own, name), { recursive: true, maxRetries: 5 })
    }
    mkdirSync(join(own, 'tmp'))
    expect(await saving).toMatchObject({ message: expect.stringContaining('perdeu a vez') })
    await copy.close()
  })

  it('keeps foreign files', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('ord_1'), stateOf(1))
    const [shard = ''] = readdirSync(join(folder, 'orders'))
    writeFileSync(join(folder, 'orders', shard, '.DS_Store'), '')
    await copy.save([], stateOf(2))
    expect(await copy.deleteUnseen(2)).toBe(1)
    await copy.close()
    expect(readdirSync(join(folder, 'orders', shard))).toEqual(['.DS_Store'])
  })

  it('contains every file, whatever the ids are', async () => {
    const copy = await openFolderStore(folder)
    await copy.save(orders('../../../out', '/etc/x', '..'), stateOf(1))
    await copy.close()
    expect(readdirSync(parent)).toEqual(['copy'])
    expect((await readSyncedOrders(folder)).size).toBe(3)
  })
})

describe('a rejected folder', () => {
  const marked = (text: string) => {
    mkdirSync(join(folder, '.sync'), { recursive: true })
    writeFileSync(join(folder, '.sync/copy.json'), text)
  }
  it.each<[string, () => void, RegExp]>([
    [
      'with other files in it',
      () => writeFileSync(join(folder, 'fotos.txt'), 'x'),
      /outros arquivos \(fotos\.txt\)/,
    ],
    [
      'with a .sync of another program',
      () => {
        mkdirSync(join(folder, '.sync'))
        writeFileSync(join(folder, '.sync/ID'), 'x')
        writeFileSync(join(folder, 'a.txt'), 'x')
      },
      /outros arquivos/,
    ],
    [
      'with foreign orders',
      () => {
        mkdirSync(join(folder, 'orders'))
        writeFileSync(join(folder, 'orders/1.txt'), 'x')
      },
      /outros arquivos \(orders\)/,
    ],
    ['of a newer version', () => marked('{"format":"orders-copy","version":2}'), /outra versão/],
    ['with a damaged marker', () => marked('{'), /outra versão/],
  ])('a folder %s is rejected and stays unchanged', async (_what, prepare, message) => {
    mkdirSync(folder)
    prepare()
    const before = readdirSync(folder, { recursive: true }).sort()
    await expect(openFolderStore(folder)).rejects.toThrow(message)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before)
  })

  it.runIf(process.platform === 'linux')(
    'a folder of the system that takes no others',
    async () => {
      const created = openFolderStore('/proc/orders-copy')
      await expect(created).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/orders-copy' })
    },
  )

  it('a file is rejected as a folder', async () => {
    writeFileSync(folder, 'x')
    await expect(openFolderStore(folder)).rejects.toThrow(/é um arquivo.*sqlite:/)
  })

  it('names no database for a path through a file, where there can be none', async () => {
    writeFileSync(folder, 'x')
    const path = join(folder, 'copia')
    await expect(openFolderStore(path)).rejects.toMatchObject({ code: 'ENOTDIR', path })
  })
})

it('a damaged state is reported, and the orders stay', async () => {
  const copy = await openFolderStore(folder)
  await copy.save(orders('ord_1'), stateOf(1))
  writeFileSync(join(folder, '.sync/state.json'), '{"version":')
  await expect(copy.read()).rejects.toThrow(/state\.json está danificado/)
  await copy.close()
  expect((await readSyncedOrders(folder)).size).toBe(1)
})
