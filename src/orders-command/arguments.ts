import { parseArgs } from 'node:util'
import { UsageFault } from './faults.ts'

/** `text`: takes a value, once. `list`: takes values, also several times. `flag`: takes none. */
export type OptionTable = Readonly<Record<string, 'text' | 'list' | 'flag'>>

export interface Parsed<Name extends string> {
  /** The values; those of a list joined by commas. */
  text: Partial<Record<Name, string>>
  flags: ReadonlySet<Name>
  words: readonly string[]
}

/** However it is spelt: keys in the list of processes can be read by all users of the machine. */
const KEY_OPTION =
  /^--?(k|key|chave|token|bearer|secret|senha|password|(orders-?)?api-?(key|token))$/
const KEY_VALUE = /(^|[=:\s])key_[a-z]+_/i

/**
 * Reads a command line by the table of its options.
 * @throws UsageFault, in the words of who typed it; never with a key in it
 */
export function parseArguments<Table extends OptionTable>(
  command: string,
  args: readonly string[],
  table: Table,
): Parsed<keyof Table & string> {
  type Name = keyof Table & string
  refuseKeys(command, args)
  const options = Object.fromEntries(
    Object.entries(table).map(([name, kind]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  // Not strict: its messages are in English. What it would refuse is refused here.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })

  const text: Partial<Record<Name, string>> = {}
  const flags = new Set<Name>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const kind = Object.hasOwn(table, token.name) ? table[token.name] : undefined
    const name = token.name as Name
    if (kind === undefined) throw new UsageFault(`Não existe a opção ${token.rawName}.`, command)
    if (kind === 'flag') {
      if (token.value !== undefined) {
        throw new UsageFault(`A opção ${token.rawName} não leva valor.`, command)
      }
      flags.add(name)
      continue
    }
    const value = neededValue(command, token)
    const before = text[name]
    if (before !== undefined && kind !== 'list') {
      throw new UsageFault(`A opção ${token.rawName} veio mais de uma vez.`, command)
    }
    text[name] = before === undefined ? value : `${before},${value}`
  }
  return { text, flags, words }
}

/** @throws UsageFault for an option of which the value was forgotten, or came empty from a variable */
function neededValue(
  command: string,
  token: { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
): string {
  const { rawName, value, inlineValue } = token
  const isMissing = value === undefined || value === ''
  if (isMissing || (!inlineValue && value.startsWith('-'))) {
    throw new UsageFault(`Falta o valor da opção ${rawName}.`, command)
  }
  return value
}

function refuseKeys(command: string, args: readonly string[]): void {
  const isKey = (arg: string) => KEY_OPTION.test(arg.split('=')[0] ?? '') || KEY_VALUE.test(arg)
  if (!args.some(isKey)) return
  throw new UsageFault(
    'A chave não vai na linha de comando: ali qualquer usuário da máquina a lê, e ela fica no histórico. Ponha-a em ORDERS_API_KEY, ou deixe que o comando pergunte. Troque a chave se a que você digitou era verdadeira.',
    command,
  )
}

/** @throws UsageFault where a word is none of `known` */
export function oneOf<const T extends string>(
  command: string,
  option: string,
  text: string | undefined,
  known: readonly T[],
): T {
  const found = known.find((one) => one === text)
  if (found !== undefined) return found
  const told = text === undefined ? `Falta a opção ${option}` : `${option}: não existe "${text}"`
  throw new UsageFault(`${told}. Use ${known.join(', ')}.`, command)
}

/** @throws UsageFault for words that the command has no use for */
export function refuseWords(command: string, words: readonly string[]): void {
  const [word] = words
  if (word === undefined) return
  throw new UsageFault(`Sobrou "${word}" na linha de comando.`, command)
}
