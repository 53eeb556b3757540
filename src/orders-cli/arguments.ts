import { parseArgs } from 'node:util'
import { nearestName } from '../lib/text/nearest-name.ts'
import { CommandLineError } from './errors.ts'

/** `text`: one value. `list`: values, repeatable. `flag`: no value. */
export type OptionTable = Readonly<Record<string, 'text' | 'list' | 'flag'>>

export interface Parsed<Name extends string> {
  /** The values; lists joined by commas. */
  text: Partial<Record<Name, string>>
  flags: ReadonlySet<Name>
  words: readonly string[]
}

/** Every spelling of a key option: other users can read it in the process list. */
const KEY_OPTION =
  /^--?(k|key|chave|token|bearer|secret|senha|password|(orders-?)?api-?(key|token))$/
const KEY_VALUE = /(^|[=:\s])key_[a-z]+_/i

/**
 * Parses a command line by the table of its options.
 * @throws UsageError, never with a key in its message
 */
export function parseArguments<Table extends OptionTable>(
  args: readonly string[],
  table: Table,
): Parsed<keyof Table & string> {
  type Name = keyof Table & string
  rejectKeys(args)
  const options = Object.fromEntries(
    Object.entries(table).map(([name, kind]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  // Not strict, because the errors of `parseArgs` are in English; the loop below is as strict.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })

  const text: Partial<Record<Name, string>> = {}
  const flags = new Set<Name>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const kind = Object.hasOwn(table, token.name) ? table[token.name] : undefined
    const name = token.name as Name
    if (kind === undefined) {
      const hint = didYouMean(token.name, Object.keys(table), '--')
      throw new CommandLineError(`Não existe a opção ${token.rawName}.${hint}`)
    }
    if (kind === 'flag') {
      if (token.value !== undefined) {
        throw new CommandLineError(`A opção ${token.rawName} não leva valor.`)
      }
      flags.add(name)
      continue
    }
    const value = requireValue(token)
    const before = text[name]
    if (before !== undefined && kind !== 'list') {
      throw new CommandLineError(`A opção ${token.rawName} veio mais de uma vez.`)
    }
    text[name] = before === undefined ? value : `${before},${value}`
  }
  return { text, flags, words }
}

/** @throws UsageError for a missing value, or an empty one from an unset variable */
function requireValue(token: {
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}): string {
  const { rawName, value, inlineValue } = token
  const isMissing = value === undefined || value === ''
  if (isMissing || (!inlineValue && value.startsWith('-'))) {
    throw new CommandLineError(`Falta o valor da opção ${rawName}.`)
  }
  return value
}

function rejectKeys(args: readonly string[]): void {
  const isKey = (arg: string) => KEY_OPTION.test(arg.split('=')[0] ?? '') || KEY_VALUE.test(arg)
  if (!args.some(isKey)) return
  throw new CommandLineError(
    'A chave não vai na linha de comando: qualquer usuário da máquina pode lê-la ali, e ela fica no histórico. Use a variável ORDERS_API_KEY, ou deixe o comando perguntar. Se a chave digitada era verdadeira, troque-a.',
  )
}

/** @throws UsageError if `text` is none of `known` */
export function parseChoice<const T extends string>(
  option: string,
  text: string | undefined,
  known: readonly T[],
): T {
  const found = known.find((one) => one === text)
  if (found !== undefined) return found
  const fault =
    text === undefined
      ? `Falta a opção ${option}.`
      : `${option}: não existe "${text}".${didYouMean(text, known)}`
  throw new CommandLineError(`${fault} Use ${known.join(', ')}.`)
}

/** Longer names are no typing errors, and comparing them costs time. */
const MAX_COMPARED_LENGTH = 40

/** ` Você quis dizer --format?`, or nothing if no known name is near. */
export function didYouMean(name: string, known: readonly string[], prefix = ''): string {
  const nearest = nearestName(name.slice(0, MAX_COMPARED_LENGTH), known)
  return nearest === undefined ? '' : ` Você quis dizer ${prefix}${nearest}?`
}

/** @throws UsageError for arguments that the command does not accept */
export function rejectExtraArgs(words: readonly string[]): void {
  const [word] = words
  if (word === undefined) return
  throw new CommandLineError(`Sobrou "${word}" na linha de comando.`)
}
