unit System.Net.URLClient;

{ Delphi declares types of System.Net.HttpClient in this unit; the stand-ins declare all there. }
interface

implementation

end.
