import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { assembleFile } from '../../../../src/orders-cli/export/assemble-file.ts'
import { openPartFile } from '../../../../src/orders-cli/export/part-file.ts'
import { followLink } from '../../../../src/orders-cli/follow-link.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

it('an export leaves the files to the process that has removed its expired lock', async () => {
  const request = { url: 'https://api.exemplo.com.br', filters: {}, format: 'csv', rows: 'orders' }
  const part = await openPartFile('pedidos.csv', request, false, folder)
  for (const name of readdirSync(folder)) if (name.includes('lock-')) rmSync(join(folder, name))
  await expect(part.append('id\r\n', 'next', 1)).rejects.toThrow(/perdeu a vez/)
  await expect(part.finish()).rejects.toThrow(/perdeu a vez/)
  const assemble = (_: string, path: string) => writeFile(path, 'id\r\n')
  await expect(part.finish(assemble)).rejects.toThrow(/perdeu a vez/)
  await part.close()
  expect(readdirSync(folder).sort()).toEqual(['pedidos.csv.part', 'pedidos.csv.part.json'])
})

describe('an export into a folder that other users may write to', () => {
  const request = { url: 'https://api.exemplo.com.br', filters: {}, format: 'csv', rows: 'orders' }
  const at = (suffix: string) => join(folder, `pedidos.csv${suffix}`)
  async function* content() {
    yield Buffer.from('id\r\n')
  }
  const assemble = (from: string, to: string) =>
    assembleFile(
      from,
      to,
      async () => content(),
      () => {},
    )

  async function exportWith(finishing?: typeof assemble) {
    const part = await openPartFile('pedidos.csv', request, false, folder)
    await part.append('id\r\n', null, 1)
    await part.finish(finishing)
    await part.close()
    expect(readFileSync(at(''), 'utf8')).toBe('id\r\n')
  }

  it.each(['.part', '.part.new', '.part.json.new'])(
    'writes to no file that a link %s names',
    async (suffix) => {
      writeFileSync(at('.other'), '')
      await placeState()
      symlinkSync(at('.other'), at(suffix))
      await exportWith(assemble)
      expect(readFileSync(at('.other'), 'utf8')).toBe('')
    },
  )

  it('continues no export through a link .part', async () => {
    const part = await openPartFile('pedidos.csv', request, false, folder)
    await part.append('id\r\n', 'next', 1)
    await part.close()
    writeFileSync(at('.other'), 'id\r\nkept')
    rmSync(at('.part'))
    symlinkSync(at('.other'), at('.part'))
    await expect(openPartFile('pedidos.csv', request, true, folder)).rejects.toThrow(
      `${at('.part')} é um link simbólico, e o comando não escreve através de um. Apague-o e repita`,
    )
    expect(readFileSync(at('.other'), 'utf8')).toBe('id\r\nkept')
    expect(readdirSync(folder).filter((name) => name.includes('lock-'))).toEqual([])
  })

  it.each<[string, typeof assemble | undefined]>([
    ['.part', undefined],
    ['.part.new', assemble],
  ])('replaces a file %s that others may read', async (suffix, finishing) => {
    await placeState()
    writeFileSync(at(suffix), '')
    chmodSync(at(suffix), 0o666)
    await exportWith(finishing)
    expect(statSync(at('')).mode & 0o777).toBe(0o600)
  })

  /** That of an export without a page, beside which an empty part is started again. */
  async function placeState() {
    const part = await openPartFile('pedidos.csv', request, false, folder)
    const state = readFileSync(at('.part.json'))
    await part.close()
    writeFileSync(at('.part.json'), state)
  }
})

describe('an export in CSV that another version of the command began', () => {
  const request = { url: 'https://api.exemplo.com.br', filters: {}, format: 'csv', rows: 'orders' }
  const open = (head: string) => openPartFile('pedidos.csv', request, true, folder, { head })

  beforeEach(async () => {
    const part = await open('id,name\r\n')
    await part.append('id,name\r\n1,Ana\r\n', 'next', 1)
    await part.close()
  })

  it.each(['id,phone,name\r\n', 'id,name,phone\r\n', 'id;name\r\n'])(
    'is not continued with the columns %j',
    async (head) => {
      await expect(open(head)).rejects.toThrow(
        'Não dá para continuar pedidos.csv.part: as colunas dele não são as desta versão',
      )
    },
  )

  it('is continued with the same columns', async () => {
    const part = await open('id,name\r\n')
    expect(part.isResumed).toBe(true)
    await part.close()
  })
})

describe('an export whose first orders were read with a key of unknown access', () => {
  const request = { url: 'https://api.exemplo.com.br', filters: {}, format: 'csv', rows: 'orders' }

  it('is resumed with a key of either kind, also after one of the other kind', async () => {
    const first = await openPartFile('pedidos.csv', request, false, folder)
    await first.append('ord_1\r\n', 'next', 1)
    await first.close()
    for (const isMasked of [true, false]) {
      const part = await openPartFile('pedidos.csv', request, true, folder)
      part.confirmMask(isMasked)
      await part.append('ord_2\r\n', 'next', 1)
      await part.close()
    }
    const { orders } = JSON.parse(readFileSync(join(folder, 'pedidos.csv.part.json'), 'utf8'))
    expect(orders).toBe(3)
  })
})

describe('the file that a symbolic link names', () => {
  const at = (...names: string[]) => join(realpathSync(folder), ...names)
  const link = (target: string, ...names: string[]) => symlinkSync(target, at(...names))

  it('a file that is no link is returned as typed', async () => {
    expect(await followLink('pedidos.csv', folder)).toBe('pedidos.csv')
  })

  it('the last of several links names an existing or missing file', async () => {
    link('meio.csv', 'pedidos.csv')
    link('alvo.csv', 'meio.csv')
    expect(await followLink('pedidos.csv', folder)).toBe(at('alvo.csv'))
    writeFileSync(at('alvo.csv'), '')
    expect(await followLink('pedidos.csv', folder)).toBe(at('alvo.csv'))
  })

  it('a relative link in a linked folder starts at the real folder', async () => {
    mkdirSync(at('disco', 'saida'), { recursive: true })
    link('disco/saida', 'pasta')
    link('../alvo.csv', 'pasta', 'pedidos.csv')
    expect(await followLink('pasta/pedidos.csv', folder)).toBe(at('disco', 'alvo.csv'))
  })

  it('a cycle of links is rejected', async () => {
    link('b.csv', 'a.csv')
    link('a.csv', 'b.csv')
    await expect(followLink('a.csv', folder)).rejects.toThrow(/a\.csv é um link .* ciclo/)
  })
})
