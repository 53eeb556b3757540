// Busca um pedido, o do primeiro argumento. C# 6 ou mais novo, sem pacotes: .NET 8, .NET Framework 4.7.2 ou Mono.
using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading.Tasks;

static class Pedido
{
    static void Main(string[] args) => Print(args[0]).GetAwaiter().GetResult();

    static async Task Print(string id)
    {
        var url = Environment.GetEnvironmentVariable("ORDERS_API_URL") + "/v1/orders/" + Uri.EscapeDataString(id);
        using (var http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) })
        {
            http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
                "Bearer", Environment.GetEnvironmentVariable("ORDERS_API_KEY"));
            for (var attempt = 0; ; attempt++)
            {
                using (var response = await http.GetAsync(url))
                {
                    var body = await response.Content.ReadAsStringAsync();
                    if (response.IsSuccessStatusCode)
                    {
                        if (!body.Contains("\"object\":\"order\""))
                            throw new HttpRequestException("A resposta não é da API. Confira ORDERS_API_URL.");
                        Console.WriteLine(body);
                        return;
                    }
                    // Só vale repetir 429 e 5xx. Espera o maior entre Retry-After e um tempo que dobra.
                    var status = (int)response.StatusCode;
                    var worthRepeating = status == 429 || status >= 500;
                    if (!worthRepeating || attempt == 5) throw new HttpRequestException(status + " " + body);
                    var retryAfter = response.Headers.RetryAfter?.Delta?.TotalSeconds ?? 0;
                    await Task.Delay(TimeSpan.FromSeconds(Math.Max(retryAfter, 1 << attempt)));
                }
            }
        }
    }
}
