import { valuesOf } from '../markdown/cells.ts'
import type { PageOperation, Parameter } from '../markdown/document.ts'
import { escapeHtml } from './html.ts'

/** The page sends fields without outer spaces. */
const NOT_BLANK = 'pattern=".*\\S.*"'

/** The form that calls an operation. A script shows it, because the page sends nothing itself. */
export function tryForm(method: string, path: string, operation: PageOperation): string {
  const [body] = Object.entries(operation.requestBody?.content ?? {})
  return `<details class="try" hidden><summary>Testar</summary>
<form data-method="${method}" data-path="${path}">
<label>Chave<input name="key" type="password" autocomplete="off" spellcheck="false"></label>
${operation.parameters.map(parameterField).join('\n')}
${body === undefined ? '' : bodyField(...body)}
<button>Enviar</button>
<div class="answer" role="status"></div>
</form>
</details>`
}

function parameterField({ name, in: place, required, schema, example }: Parameter): string {
  const hint = escapeHtml([example ?? schema.default ?? ''].flat().join(','))
  const values = valuesOf(schema).startsWith('Valores') && schema.items === undefined
  const needed = required ? ' required' : ''
  const input = values
    ? `<select data-in="${place}" name="${name}"${needed}><option value=""></option>${(
        schema.enum ?? []
      )
        .map((value) => `<option>${escapeHtml(String(value))}</option>`)
        .join('')}</select>`
    : `<input data-in="${place}" name="${name}" placeholder="${hint}" autocomplete="off" spellcheck="false"${needed && `${needed} ${NOT_BLANK}`}>`
  return `<label>${escapeHtml(name)}${input}</label>`
}

function bodyField(type: string, { example }: { example: unknown }): string {
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return `<label>Corpo (${type})<textarea name="body" data-type="${type}" rows="8" spellcheck="false">
${escapeHtml(text)}</textarea></label>`
}
