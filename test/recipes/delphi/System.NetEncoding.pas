unit System.NetEncoding;

{$mode delphi}

{ Delphi's TNetEncoding.URL.Encode, with FPC's own. }
interface

type
  TURLEncoding = class
    class function Encode(const Text: string): string; static;
  end;
  TURLEncodingClass = class of TURLEncoding;

  TNetEncoding = class
  private
    class function GetURL: TURLEncodingClass; static;
  public
    class property URL: TURLEncodingClass read GetURL;
  end;

implementation

uses
  HTTPDefs;

class function TURLEncoding.Encode(const Text: string): string;
begin
  Result := HTTPEncode(Text);
end;

class function TNetEncoding.GetURL: TURLEncodingClass;
begin
  Result := TURLEncoding;
end;

end.
