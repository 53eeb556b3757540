// Lista os pedidos pagos até o fim. C# 6 ou mais novo, sem pacotes: .NET 8, .NET Framework 4.7.2 ou Mono.
using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading.Tasks;
using System.Xml;
using System.Xml.Linq;

static class Pedidos
{
    static readonly string Url = Environment.GetEnvironmentVariable("ORDERS_API_URL");
    static readonly HttpClient Http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };

    static async Task<XElement> Get(string path)
    {
        for (var attempt = 0; ; attempt++)
        {
            using (var response = await Http.GetAsync(Url + path))
            {
                var body = await response.Content.ReadAsStringAsync();
                if (response.IsSuccessStatusCode)
                {
                    // O leitor recusa estes dois, que não são caracteres.
                    var json = Encoding.UTF8.GetBytes(body.Replace('\uFFFE', '\uFFFD').Replace('\uFFFF', '\uFFFD'));
                    return XElement.Load(JsonReaderWriterFactory.CreateJsonReader(json, XmlDictionaryReaderQuotas.Max));
                }
                // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
                var status = (int)response.StatusCode;
                var worthRepeating = status == 429 || status >= 500;
                if (!worthRepeating || attempt == 5)
                    throw new HttpRequestException(status + " " + body);
                var retryAfter = response.Headers.RetryAfter?.Delta?.TotalSeconds ?? 0;
                await Task.Delay(TimeSpan.FromSeconds(Math.Max(retryAfter, 1 << attempt)));
            }
        }
    }

    static void Main() => List().GetAwaiter().GetResult();

    static async Task List()
    {
        Http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Bearer", Environment.GetEnvironmentVariable("ORDERS_API_KEY"));
        var cursor = "";
        do
        {
            var page = await Get("/v1/orders?status=PAID&limit=100" + cursor);
            foreach (var order in page.Element("data").Elements())
            {
                var cents = (long)order.Element("amount_total");
                Console.WriteLine($"{order.Element("id").Value} {order.Element("status").Value} {cents / 100m}");
            }
            cursor = "&cursor=" + page.Element("next_cursor").Value;
        } while (cursor != "&cursor="); // O null da última página é um texto vazio.
    }
}
