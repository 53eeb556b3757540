import { clientTexts } from './client-texts.js'
import { texts } from './texts.js'

const response = await fetch('/openapi.json')
const description = await response.json()

// What try-it sends without being told to is what has to be sent: an example that is there, but not ticked.
for (const { get } of Object.values(description.paths)) {
  for (const parameter of get.parameters) {
    if (parameter.required || parameter.example === undefined) continue
    parameter.examples = { exemplo: { value: parameter.example, 'x-disabled': true } }
    delete parameter.example
  }
}

globalThis.Scalar.createApiReference('#docs', {
  content: description,
  slug: 'api',
  // `#limites` leads to the element `api/limites`, the slug before it, and so to the chapter here as in the Markdown.
  generateHeadingSlug: ({ slug }) => `api/${slug}`,
  localization: { locale: 'pt-BR', translations: { ...texts, apiClient: clientTexts } },
  modelsSectionLabel: 'Esquemas',
  authentication: { preferredSecurityScheme: 'apiKey' },
  // The programs of the description alone.
  hiddenClients: true,
  // The guide leads to the file as it is.
  documentDownloadType: 'none',
  // Nothing leaves this page but what try-it sends to this service, and nothing of it is kept.
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
})
