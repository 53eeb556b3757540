// Lista os pedidos pagos até o fim. .NET 8 ou mais novo, sem pacotes: o Program.cs de "dotnet new console".
using System.Net.Http.Headers;
using System.Text.Json;

var url = Environment.GetEnvironmentVariable("ORDERS_API_URL");
using var http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
    "Bearer", Environment.GetEnvironmentVariable("ORDERS_API_KEY"));

async Task<JsonDocument> Get(string path)
{
    for (var attempt = 0; ; attempt++)
    {
        using var response = await http.GetAsync(url + path);
        var body = await response.Content.ReadAsStringAsync();
        if (response.IsSuccessStatusCode) return JsonDocument.Parse(body);
        // Só vale repetir 429 e 5xx. Sem Retry-After, a espera dobra a cada vez.
        var status = (int)response.StatusCode;
        var worthRepeating = status == 429 || status >= 500;
        if (!worthRepeating || attempt == 5) throw new HttpRequestException($"{status} {body}");
        await Task.Delay(response.Headers.RetryAfter?.Delta ?? TimeSpan.FromSeconds(1 << attempt));
    }
}

string? cursor = null;
do
{
    using var page = await Get("/v1/orders?status=PAID&limit=100" + (cursor is null ? "" : $"&cursor={cursor}"));
    foreach (var order in page.RootElement.GetProperty("data").EnumerateArray())
    {
        var cents = order.GetProperty("amount_total").GetInt64();
        Console.WriteLine($"{order.GetProperty("id")} {order.GetProperty("status")} {cents / 100m}");
    }
    cursor = page.RootElement.GetProperty("next_cursor").GetString();
} while (cursor is not null);
